"""What a WSGI server loads: ``gunicorn wsgi:app``."""

import sys
from typing import Final

from app import create_app
from app.config import SettingError
from app.errors import ModelError

CANNOT_SERVE: Final = 4
"""Exit status: gunicorn ends as well at this one (its APP_LOAD_ERROR); at others it starts worker after worker."""

try:
    app = create_app()
except (ModelError, SettingError) as error:
    sys.stderr.write(f"AnimeBooth cannot start: {error}\n")
    sys.exit(CANNOT_SERVE)
