"""`networks`: lists the built-in Bayesian networks."""

from __future__ import annotations

import argparse
import json

from privcore.data.network import NETWORKS, load_network


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_networks)


def _networks(options: argparse.Namespace) -> None:
    networks = [load_network(name) for name in NETWORKS]
    if options.json:
        described = [
            {
                "name": network.name,
                "title": network.title,
                "columns": len(network.names),
                "edges": len(network.edges),
                "citation": network.citation,
            }
            for network in networks
        ]
        print(json.dumps(described, indent=1))
        return
    for network in networks:
        print(
            f"{network.name:<11} {len(network.names):>3} columns {len(network.edges):>3} edges  "
            f"{network.title}. {network.citation}"
        )
