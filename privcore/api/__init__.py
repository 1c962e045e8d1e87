"""What `import privcore` offers: flat functions over the engine.

>>> import privcore
>>> data = privcore.load_network("asia").sample(20_000, seed=1)
>>> result = privcore.discover(data, epsilon=1, seed=7)
>>> result.guarantee.epsilon, result.guarantee.calibration
(1.0, 'proven')
>>> sorted(data.names[i] + " - " + data.names[j] for i, j in result.graph.skeleton)[:2]
['asia - tub', 'bronc - dysp']

Each file is loaded when one of its functions is first used, so that a run loads no release.
"""
