"""Makes a differentially private copy of a table with dpmm; a script, run by dpmm's own Python.

    python synthesiser.py METHOD EPSILON DELTA ROWS SEED FOLDER [COST]

METHOD is mst (McKenna, Miklau & Sheldon 2021) or aim (McKenna et al. 2022), on Private-PGM, or
aim-merged: MST merges the levels of a column whose noisy counts are below 3σ, and draws from them
at random in the end; AIM as published merges none, dpmm's does.  Reads `codes`, shape (n, p), and
`levels`, shape (p,), from FOLDER/data.npz, writes ROWS rows of codes to FOLDER/synthetic.npy, and
prints {"seconds": processor time of the fit and the rows}.  All levels are public.  SEED is for
what dpmm draws with numpy; its Gaussian noise comes from OpenDP, which takes none.  COST, 1 unless
given: the budget is lowered until, in zCDP and multiplied by COST, it is (EPSILON, DELTA).
"""

import importlib
import json
import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402 (the number of threads is read when it is imported)

# Mirror descent ends where its last 30 steps together lower the loss, half a χ² in units of the
# stated noise, by less than this; 10,000 steps are far more than any table here has needed.
_GAIN, _LAST, _MOST = 0.01, 30, 10_000
# A step is accepted if it gains on the worst of as many as this before it, after at most so many
# halvings.
_WORST_OF, _HALVINGS = 10, 25


def mirror_descent(engine: Any, measurements: Any, *_: Any, **__: Any) -> float:
    """Fits the engine's model to the measurements, until it has converged; the loss in the end.

    It stands in for dpmm's `FactoredInference.mirror_descent`, which fits the same model by the
    same loss, but starts with a step of 2/n², doubles it at each step and ends after a fixed number
    of steps: on asia at ε = 1 (AIM, 1,000 steps) up to 5σ from the optimum, here up to a quarter
    of σ.  Here the first step is σ²/2n, with which no cell moves more than half way to its noisy
    count, and each later one is as long as the bend of the loss along the last says (Barzilai &
    Borwein 1988), with a search that allows the loss to rise for a while (Grippo, Lampariello &
    Lucidi 1986).
    """
    engine._setup(measurements, None)
    model = engine.model
    theta = model.potentials
    means = model.belief_propagation(theta)
    loss, slope = engine._marginal_loss(means)
    step = min(sigma for _, _, sigma, _ in measurements) ** 2 / (2 * model.total)
    best, losses, lowest = (theta, means), [loss], [loss]
    while len(losses) <= _MOST:
        for _ in range(_HALVINGS):
            moved = theta - step * slope
            after = model.belief_propagation(moved)
            value, turned = engine._marginal_loss(after)
            gain = slope.dot(means - after)
            if max(losses[-_WORST_OF:]) - value >= 1e-4 * gain:
                break
            step /= 2
        bend = (after - means).dot(turned - slope)
        step *= gain / bend if min(gain, bend) > 0 else 2
        theta, means, loss, slope = moved, after, value, turned
        if loss < lowest[-1]:
            best = theta, means
        losses.append(loss)
        lowest.append(min(loss, lowest[-1]))
        if len(lowest) > _LAST and lowest[-1 - _LAST] - lowest[-1] < _GAIN:
            break
    model.potentials, model.marginals = best
    return float(lowest[-1])


def with_all_levels(compressor: Any, data: Any) -> Any:
    """The rows with the levels that were merged as rare, each drawn at random from them.

    It stands in for that of dpmm, which loses a rare level whose code is 0.
    """
    frame = data.df.copy()
    for column, kept in compressor.supports.items():
        levels, merged = np.flatnonzero(kept), np.flatnonzero(~kept)
        codes = np.asarray(frame[column])
        rare = codes == levels.size
        made = levels[np.minimum(codes, levels.size - 1)]
        made[rare] = compressor.prng.choice(merged, rare.sum()) if rare.any() else []
        frame[column] = made
    return SimpleNamespace(df=frame)


def synthesised(
    method: str, codes: Any, levels: Any, epsilon: float, delta: float, rows: int, seed: int
) -> Any:
    pandas = importlib.import_module("pandas")
    name, _, merging = method.partition("-")
    module: Any = importlib.import_module(f"dpmm.models.{name}")
    module.FactoredInference.mirror_descent = mirror_descent
    compression: Any = importlib.import_module("dpmm.models.base.compression")
    compression.DomainCompressor.reverse = with_all_levels
    columns = [f"c{column}" for column in range(codes.shape[1])]
    model = getattr(module, f"{name.upper()}GM")(
        epsilon=epsilon,
        delta=delta,
        domain=dict(zip(columns, map(int, levels), strict=True)),
        compress=name == "mst" or bool(merging),
        n_jobs=1,
    )
    model.set_random_state(np.random.RandomState(seed))
    model.fit(pandas.DataFrame(codes.astype(np.int64), columns=columns))
    return model.generate(rows)[columns].to_numpy()


def lowered(epsilon: float, delta: float, cost: float) -> float:
    """The ε of which `cost` times the zCDP budget is that of (epsilon, delta), as dpmm converts."""
    conversion: Any = importlib.import_module("dpmm.models.base.mechanisms.cdp2adp")
    return float(conversion.cdp_eps(conversion.cdp_rho(epsilon, delta) / cost, delta))


def main() -> None:
    method, epsilon, delta, rows, seed, given, *cost = sys.argv[1:]
    folder = Path(given)
    stated = lowered(float(epsilon), float(delta), float(cost[0])) if cost else float(epsilon)
    with np.load(folder / "data.npz") as data:
        codes, levels = data["codes"], data["levels"]
    start = time.process_time()
    made = synthesised(method, codes, levels, stated, float(delta), int(rows), int(seed))
    seconds = time.process_time() - start
    np.save(folder / "synthetic.npy", made)
    print(json.dumps({"seconds": seconds}), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    # Whatever the library prints goes where it does not mix with the answer.
    sys.stdout = sys.stderr
    main()
