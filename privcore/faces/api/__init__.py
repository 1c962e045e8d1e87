"""The public interface of `import privcore`: plain functions over the engine.

>>> import privcore
>>> data = privcore.load_network("asia").sample(20_000, seed=1)
>>> result = privcore.discover(data, epsilon=1, seed=7)
>>> result.guarantee.epsilon, result.guarantee.calibration
(1.0, 'proven')
>>> sorted(data.names[i] + " - " + data.names[j] for i, j in result.graph.skeleton)[:2]
['asia - tub', 'bronc - dysp']

Each module is loaded when one of its functions is first used, so a run loads no code for releases.
"""
