"""AnimeBooth: a photo goes in, an anime picture comes out, on an ordinary CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from flask import Flask

    from app.config import Settings
    from app.engine import Engine
    from app.telemetry.service import Telemetry

__version__: Final = "0.1.0"


def create_app(
    settings: Settings | None = None, engine: Engine | None = None, telemetry: Telemetry | None = None
) -> Flask:
    """Assemble the service: a WSGI application.

    settings: default, the ``ANIMEBOOTH_*`` variables. telemetry: default, one by ``settings``. engine: default, one by
    ``settings`` that ``telemetry`` observes. No network is loaded here, so the application may be built before a fork:
    the engine starts in the process that serves. Raises SettingError and ModelError for what cannot work.
    """
    # Imported here, so that the command line and the engine do not load Flask.
    from flask import Flask
    from werkzeug.middleware.proxy_fix import ProxyFix

    from app import handlers, owner, page_text, views
    from app.assembly import uploads_room
    from app.config import PROJECT_ROOT, Settings
    from app.engine import Engine
    from app.telemetry.service import Telemetry
    from app.web import assets, measuring
    from app.web.catalogue import ServiceLimits
    from app.web.limits import Gate, rate_limited
    from app.web.uploads import MAX_FORM_PARTS, UploadRequest, body_limit

    settings = settings or Settings.from_environment()
    telemetry = telemetry or Telemetry.assemble(log_format=settings.log_format, traces=settings.traces)
    engine = engine or Engine.from_settings(settings, telemetry.metrics)

    app = Flask(__name__, template_folder=PROJECT_ROOT / "templates", static_folder=PROJECT_ROOT / "static")
    app.request_class = UploadRequest
    app.config.update(
        MAX_CONTENT_LENGTH=body_limit(settings.max_upload_mib),
        UPLOADS_ROOM=uploads_room(settings),
        # A picture sent as text is told from one too large only once it is read; the body's limit bounds both.
        MAX_FORM_MEMORY_SIZE=None,
        MAX_FORM_PARTS=MAX_FORM_PARTS,
    )
    app.extensions["animebooth"] = engine
    app.extensions["animebooth-observer"] = telemetry.metrics

    measuring.install(app, telemetry)
    handlers.install(app)
    assets.install(app)
    page_text.install(app)
    limited = rate_limited(app, settings.rate_limit, settings.rate_limit_storage)
    guards = views.Guards(
        rate_limited=limited,
        api_key=settings.api_key,
        gate=Gate(settings.max_requests, engine.retry_after),
    )
    app.register_blueprint(views.create_blueprint(engine, ServiceLimits.from_settings(settings), guards))
    door = owner.Door(rate_limited=limited, api_key=settings.api_key, trusted_proxies=settings.trusted_proxies)
    app.register_blueprint(owner.create_blueprint(engine, telemetry, door))

    if settings.trusted_proxies:
        hops = settings.trusted_proxies
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops, x_prefix=hops)  # type: ignore[method-assign]
    return app
