import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "detiq_admin.settings")
os.environ.setdefault("DETIQ_PROCESS", "web")
application = get_asgi_application()
