"""Login, health, metrics, the console."""

from django.urls import include, path

urlpatterns = [
    path("accounts/", include("allauth.account.urls")),
    path("", include("jobs.console.urls")),
]
