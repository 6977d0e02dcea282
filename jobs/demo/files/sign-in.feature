Feature: Sign in to the handbook
  Readers of Harbor Bank sign in with the address of their work.

  Background:
    Given the sign-in page is open

  Scenario: A reader signs in
    When the reader signs in with a known address
    Then the handbook's first page is shown

  Scenario: An unknown address
    When the reader signs in with an unknown address
    Then the page says that the address is not known
    And no mail is sent

  Scenario Outline: Too many tries
    When the reader fails <times> times
    Then signing in is <state>

    Examples:
      | times | state       |
      | 4     | possible    |
      | 5     | locked      |
