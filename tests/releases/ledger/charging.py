"""One charge of a small table, as the tests of the ledger make it."""


def charge(ledger, name="clinic", epsilon=0.1, delta=0.0, content=b"rows", **more):
    marks = [ledger.fingerprint([content])]
    paid = {"algorithm": "priv-pc", "parameters": {"tweak": 1.0}, "epsilon": epsilon}
    return ledger.reserve(name, marks, delta=delta, **{**paid, **more})
