# What `import privcore` offers; each name is loaded when it is first used.

from .algorithms.registry import ALGORITHMS as ALGORITHMS
from .algorithms.search.result import Discovery as Discovery
from .api import discover as discover
from .api import read_table as read_table
from .api import release as release
from .api import sweep as sweep
from .data.model import Dataset as Dataset
from .data.network import NETWORKS as NETWORKS
from .data.network import load_network as load_network
from .data.structural import StructuralExample as StructuralExample
from .errors import PrivcoreError as PrivcoreError
from .evaluation.comparison import compare as compare
from .graphs.pdag import PDAG as PDAG
from .privacy.accounting.guarantee import Guarantee as Guarantee
from .releases.ledger.ledger import Ledger as Ledger
from .version import __version__ as __version__
