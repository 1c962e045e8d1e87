"""Time orders of the columns of built-in networks, from the literature.

They are examples of background knowledge; each network's true DAG agrees with its order.
"""

from __future__ import annotations

# Semicolons separate tiers, commas their columns: habits and travel before diseases
# before findings, signals from the membrane inwards, drivers before cars before accidents.
TIERS: dict[str, str] = {
    "cancer": "Pollution, Smoker; Cancer; Xray, Dyspnoea",
    "earthquake": "Burglary, Earthquake; Alarm; JohnCalls, MaryCalls",
    "survey": "A, S; E; O, R, T",
    "asia": "asia, smoke; tub, lung, bronc, either; xray, dysp",
    "sachs": "Plcg, PIP3, PIP2, PKC, PKA; Raf, Jnk, P38; Mek, Erk, Akt",
    "child": "BirthAsphyxia, Disease; LVH, DuctFlow, CardiacMixing, LungParench, LungFlow, Sick, "
    "HypDistrib, HypoxiaInO2, CO2, ChestXray, Grunting; Age, LVHreport, LowerBodyO2, RUQO2, "
    "CO2Report, XrayReport, GruntingReport",
    "insurance": "Age, Mileage, SocioEcon, GoodStudent, RiskAversion, OtherCar; VehicleYear, "
    "MakeModel, SeniorTrain, HomeBase, AntiTheft, RuggedAuto, DrivingSkill, Antilock, CarValue, "
    "Airbag, DrivQuality, DrivHist, Cushioning; Theft, Accident, ThisCarDam, OtherCarCost, "
    "MedCost, ILiCost, ThisCarCost, PropCost",
    "alarm": "HYPOVOLEMIA, LVFAILURE, ERRLOWOUTPUT, ERRCAUTER, INSUFFANESTH, ANAPHYLAXIS, "
    "KINKEDTUBE, FIO2, PULMEMBOLUS, INTUBATION, DISCONNECT, MINVOLSET; LVEDVOLUME, STROKEVOLUME, "
    "TPR, SHUNT, VENTMACH, VENTTUBE, VENTLUNG, VENTALV, PVSAT, ARTCO2, SAO2, CATECHOL, HR, CO; "
    "HISTORY, CVP, PCWP, PAP, PRESS, MINVOL, EXPCO2, HRBP, HREKG, HRSAT, BP",
}
