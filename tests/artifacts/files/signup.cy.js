describe('sign-up', () => {
  beforeEach(() => cy.visit('/signup'));

  it('refuses a short password', () => {
    cy.get('[name=email]').type('lena@mail.example');
    cy.get('[name=password]').type('abc');
    cy.contains('button', 'Create account').click();
    cy.contains('at least 12 characters');
  });
});
