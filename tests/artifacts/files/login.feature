@auth
Feature: Sign in
  Members sign in with e-mail and password.

  Background:
    Given a member "lena@mail.example" with a confirmed address

  Scenario: Right password
    When she signs in with the right password
    Then she sees her dashboard

  Scenario Outline: Wrong passwords
    When she signs in with "<password>" <times> times
    Then she sees "<message>"

    Examples:
      | password | times | message            |
      | wrong    | 1     | Wrong password     |
      | wrong    | 5     | Account is locked  |
