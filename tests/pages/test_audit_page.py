"""The page Audit, through Streamlit's own test harness."""

import pytest
from streamlit.testing.v1 import AppTest

from privcore.evaluation.audit import AUDITS, MECHANISMS, PLANTED

ROOT = __file__.rsplit("/tests/", 1)[0]
ALL = [
    *(("algorithms", name) for name in AUDITS),
    *(("mechanisms", name) for name in MECHANISMS),
    *(("planted bugs", name) for name in PLANTED),
]


def start(kind, name, **query):
    app = AppTest.from_file(f"{ROOT}/app.py", default_timeout=120)
    asked = {"audit_kind": kind, f"audit_{kind.split()[0]}": name, "audit_runs": "1000", **query}
    for key, value in asked.items():
        app.query_params[key] = value
    app.run()
    app.switch_page("pages/audit.py").run()
    assert not app.exception
    return app


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_registered_audit_is_drawn(kind, name):
    app = start(kind, name)
    answers = [*app.success, *app.error]
    assert len(answers) == 1
    assert "at 95 % confidence the true ε is at least" in answers[0].value
    assert len(app.get("plotly_chart")) >= 1


def test_a_planted_bug_is_told_and_caught():
    app = start("planted bugs", "half-noise")
    assert app.error[0].value.startswith("Violated")
    assert any(m.value.startswith("**The bug:**") for m in app.markdown)
