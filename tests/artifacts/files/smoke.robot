*** Settings ***
Library    RequestsLibrary

*** Test Cases ***
Health Page Answers
    ${answer}=    GET    https://depot.example/healthz
    Should Be Equal As Integers    ${answer.status_code}    200
