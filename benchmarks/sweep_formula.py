# SPDX-License-Identifier: BSD-3-Clause
"""sweep_formula.py - the number of messages of a sweep over N nodes (m_NS: Plank 1993,
section 2.6; docs/simulator.md), from the rules of the mesh alone. Real and simulated
sweeps are compared with it, so this module does not use ckpt."""

import itertools
import math


def sides(nodes, dimensions):
    """Returns the mesh of `nodes` nodes: a hypercube (dimensions 0), or a mesh with at
    most `dimensions` sides. Among these it has the shortest longest side, then the
    fewest places, then the shortest first side, with the other sides from long to
    short."""
    if dimensions == 0:
        return (2,) * (nodes - 1).bit_length()
    lengths = range(nodes, 0, -1)
    meshes = [
        (-(-nodes // math.prod(others)), *others)
        for others in itertools.combinations_with_replacement(
            lengths, dimensions - 1
        )
        if math.prod(others) <= nodes
    ]
    best = min(meshes, key=lambda mesh: (max(mesh), math.prod(mesh), mesh))
    return tuple(side for side in best if side > 1)


def _steps(place, mesh):
    """Yields (dimension, step, neighbour) for each neighbour of a place."""
    for dimension, side in enumerate(mesh):
        for step in (1, -1):
            at = place[dimension] + step
            if 0 <= at < side:
                yield dimension, step, (*place[:dimension], at, *place[dimension + 1 :])


def messages(nodes, mesh):
    """Counts the messages between the nodes one by one. A place tells its neighbour
    about the nodes that agree with the neighbour in the earlier dimensions, and are
    there or further on. It sends no message without such nodes, or if the same node
    serves both places."""
    places = list(itertools.product(*map(range, mesh)))
    layer = math.prod(mesh[1:])
    host = {
        place: number if number < nodes else number - layer
        for number, place in enumerate(places)
    }

    def is_sent(place, dimension, step, to):
        return host[place] != host[to] and any(
            other[:dimension] == to[:dimension]
            and (other[dimension] - to[dimension]) * step >= 0
            for other in places[:nodes]
        )

    return sum(
        is_sent(place, *neighbour)
        for place in places
        for neighbour in _steps(place, mesh)
    )


def formula(nodes, dimensions):
    """Returns (in words, number): the messages of a sweep. The words are a closed
    form if the mesh has a node at each place and equal sides; otherwise they name
    the mesh."""
    mesh = sides(nodes, dimensions)
    count = messages(nodes, mesh)
    if nodes == 1:
        return "one node", count
    if math.prod(mesh) > nodes or len(set(mesh)) > 1:
        return f"{nodes} nodes in {'x'.join(map(str, mesh))} = {count}", count
    side, of_sides = mesh[0], len(mesh)
    if side == 2:
        return f"N log2 N = {nodes * of_sides}", nodes * of_sides
    closed = 2 * of_sides * (nodes - nodes // side)
    return f"2 d (N - N / k) = {closed}, d = {of_sides}", closed
