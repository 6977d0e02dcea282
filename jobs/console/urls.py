"""One route per verb."""

from django.urls import URLPattern

app_name = "console"
urlpatterns: list[URLPattern] = []
