"""Write what docs/reference holds that the code knows: `python -m scripts.reference docs/reference`."""

import sys
from pathlib import Path

from scripts.reference import write

write(Path(sys.argv[1]))
