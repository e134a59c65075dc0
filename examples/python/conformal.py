"""A sphere bent by a spin transformation (Crane, Pinkall, Schroeder 2011): angles stay, and curvature changes by rho.
Inverse iteration over quaternions, then Poisson's equation. `conformal.py bent.obj` writes the surface."""

import sys

import numpy as np
import quaternion  # the package numpy-quaternion
import scipy.spatial

import heddle

n = 3000  # points along a spiral on the sphere, and the triangles of their convex hull, seen from outside
height, angle = 1 - (2 * np.arange(n) + 1) / n, np.pi * (1 + 5**0.5) * np.arange(n)
points = np.stack([*np.sqrt(1 - height**2) * [np.cos(angle), np.sin(angle)], height], -1)
triangles = scipy.spatial.ConvexHull(points).simplices
inside = np.linalg.det(points[triangles]) < 0
triangles[inside] = triangles[inside][:, ::-1]

# The squared Dirac operator (D - rho)* (D - rho): a quaternion for each pair of a triangle's corners.
corner = quaternion.from_vector_part(points)[triangles]
edge = np.roll(corner, 1, 1) - np.roll(corner, -1, 1)  # opposite to each corner
area = np.abs((edge[:, 0] * edge[:, 1] - edge[:, 1] * edge[:, 0]) / 4)[:, None, None]
rho = 2 * np.sin(4 * points[triangles].mean(1)[:, 2])[:, None, None]
at, by = edge[:, :, None], edge[:, None]
dirac = -at * by / (4 * area) + rho * (by - at) / 6 + area * rho**2 / 9
mass = np.bincount(triangles.ravel(), np.repeat(area, 3) / 3)
row, column = np.broadcast_arrays(triangles[:, :, None], triangles[:, None])
places = [np.concatenate([index.ravel(), np.arange(n)]) for index in (row, column)]
entries = np.concatenate([dirac.ravel(), 0.01 * mass * quaternion.one])
solver = heddle.Solver(heddle.Matrix((entries, places), (n, n)), "cg", rtol=1e-6)

turn = np.tile([1.0, 0, 0, 0], (n, 1))  # and stretch, at each vertex
for step in range(8):
    turn = solver.solve(mass[:, None] * turn, x0=turn).x
    turn *= np.sqrt(mass.sum() / (mass @ turn**2).sum())

# Edges turned and stretched, and the positions that fit them best.
i, j = np.roll(triangles, 2, 1), np.roll(triangles, 1, 1)  # ends of the edge opposite to each corner
a, b = quaternion.as_quat_array(turn)[i], quaternion.as_quat_array(turn)[j]
bent = (a.conj() * edge * a + b.conj() * edge * b) / 3 + (a.conj() * edge * b + b.conj() * edge * a) / 6
weight = quaternion.as_float_array(np.roll(edge, 2, 1) * np.roll(edge, 1, 1) / (4 * area[:, 0]))[..., 0]  # cot / 2
divergence = np.zeros((n, 4))
for end, sign in ((j, 1), (i, -1)):
    np.add.at(divergence, end, sign * quaternion.as_float_array(weight * bent))
places = [np.concatenate(ends, None) for ends in ((i, j, i, j), (i, j, j, i))]
laplacian = heddle.Matrix((np.concatenate([weight, weight, -weight, -weight], None), places), (n, n))
poisson = heddle.Solver(laplacian, "cg", rtol=1e-8, null_space=np.ones(n))
bent_points = np.stack([result.x for result in poisson.solve_all(divergence.T[1:])], -1)

# Singular values of each triangle's map: their ratio is 1 where angles stay.
frames = [np.swapaxes(q[triangles[:, 1:]] - q[triangles[:, :1]], 1, 2) for q in (points, bent_points)]
metrics = [np.swapaxes(frame, 1, 2) @ frame for frame in frames]
stretch = np.sqrt(np.linalg.eigvals(np.linalg.solve(*metrics)).real)
distortion = stretch.max(1) / stretch.min(1)
print(f"{n} vertices, mean distortion {np.mean(distortion):.3f}, stretch {stretch.min():.2f} to {stretch.max():.2f}")
assert np.mean(distortion) < 1.05 and stretch.max() > 1.2 * stretch.min()

if len(sys.argv) > 1:
    with open(sys.argv[1], "w") as file:
        file.writelines(f"v {x} {y} {z}\n" for x, y, z in bent_points)
        file.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in triangles)
