"""A sphere bent by a spin transformation (Crane, Pinkall, Schroeder 2011): angles stay, and curvature changes by rho.
Inverse iteration over quaternions, then Poisson's equation. `conformal.py bent.obj` writes the surface."""

import sys

import numpy as np
import scipy.spatial

import heddle


def times(*factors):  # quaternions w, x, y, z
    a, b = factors[0], factors[1] if len(factors) == 2 else times(*factors[1:])
    u, v = a[..., 1:], b[..., 1:]
    real = a[..., :1] * b[..., :1] - (u * v).sum(-1, keepdims=True)
    return np.concatenate([real, a[..., :1] * v + b[..., :1] * u + np.cross(u, v)], -1)


def bar(a):
    return a * [1, -1, -1, -1]


n = 3000  # points along a spiral on the sphere, and the triangles of their convex hull, seen from outside
height, angle = 1 - (2 * np.arange(n) + 1) / n, np.pi * (1 + 5**0.5) * np.arange(n)
points = np.stack([*np.sqrt(1 - height**2) * [np.cos(angle), np.sin(angle)], height], -1)
triangles = scipy.spatial.ConvexHull(points).simplices
inside = np.linalg.det(points[triangles]) < 0
triangles[inside] = triangles[inside][:, ::-1]
rho = 2 * np.sin(4 * points[triangles].mean(1)[:, 2])[:, None]

# The squared Dirac operator (D - rho)* (D - rho): a quaternion for each pair of neighbours.
corner = points[triangles]
edge = np.zeros((len(triangles), 3, 4))
edge[..., 1:] = np.roll(corner, 1, 1) - np.roll(corner, -1, 1)  # opposite to each corner
area = np.linalg.norm(np.cross(edge[:, 0, 1:], edge[:, 1, 1:]), axis=-1)[:, None] / 2
data, row, column = [], [], []
for i in range(3):
    for j in range(3):
        entry = -times(edge[:, i], edge[:, j]) / (4 * area) + rho * (edge[:, j] - edge[:, i]) / 6
        entry[:, :1] += area * rho**2 / 9
        data.append(entry), row.append(triangles[:, i]), column.append(triangles[:, j])
mass = np.bincount(triangles.reshape(-1), np.repeat(area, 3) / 3)[:, None]
data.append(0.01 * mass * [1, 0, 0, 0]), row.append(np.arange(n)), column.append(np.arange(n))
places = np.concatenate(row), np.concatenate(column)
solver = heddle.Solver(heddle.Matrix((np.concatenate(data), places), (n, n)), "cg", rtol=1e-6)

turn = np.tile([1.0, 0, 0, 0], (n, 1))  # and stretch, at each vertex
for step in range(8):
    turn = solver.solve(mass * turn, x0=turn).x
    turn *= np.sqrt(mass.sum() / (mass * turn**2).sum())

# Edges turned and stretched, and the positions that fit them best.
weight = np.zeros((3, len(triangles), 1))
divergence = np.zeros((n, 4))
for k in range(3):
    i, j = triangles[:, k - 2], triangles[:, k - 1]  # the edge opposite to corner k
    weight[k, :, 0] = -(edge[:, k - 2] * edge[:, k - 1]).sum(-1) / (4 * area[:, 0])  # cotangent / 2
    a, b, e = turn[i], turn[j], edge[:, k]
    bent = (times(bar(a), e, a) + times(bar(b), e, b)) / 3 + (times(bar(a), e, b) + times(bar(b), e, a)) / 6
    np.add.at(divergence, j, weight[k] * bent)
    np.add.at(divergence, i, -weight[k] * bent)
i, j = triangles[:, [1, 2, 0]].T.reshape(-1), triangles[:, [2, 0, 1]].T.reshape(-1)
w = weight.reshape(-1)
places = np.concatenate([i, j, i, j]), np.concatenate([i, j, j, i])
laplacian = heddle.Matrix((np.concatenate([w, w, -w, -w]), places), (n, n))
poisson = heddle.Solver(laplacian, "cg", rtol=1e-8, null_space=np.ones(n))
bent_points = np.stack([result.x for result in poisson.solve_all(divergence.T[1:])], -1)

# Singular values of each triangle's map: their ratio is 1 where angles stay.
frames = [np.stack([q[triangles[:, 1]] - q[triangles[:, 0]], q[triangles[:, 2]] - q[triangles[:, 0]]], -1)
          for q in (points, bent_points)]  # fmt: skip
metrics = [np.swapaxes(f, 1, 2) @ f for f in frames]
stretch = np.sqrt(np.linalg.eigvals(np.linalg.solve(*metrics)).real)
distortion = stretch.max(1) / stretch.min(1)
print(f"{n} vertices, mean distortion {np.mean(distortion):.3f}, stretch {stretch.min():.2f} to {stretch.max():.2f}")
assert np.mean(distortion) < 1.05 and stretch.max() > 1.2 * stretch.min()

if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        file.writelines(f"v {x} {y} {z}\n" for x, y, z in bent_points)
        file.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)
