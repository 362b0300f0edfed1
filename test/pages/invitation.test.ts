import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { BUSINESS, emailTo, enter, linkIn, newEmail, PASSWORD, readSession, register } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Invites an address, and returns the link of the email. */
async function invite(email: string): Promise<{ id: string; token: string; link: string }> {
  const owner = await register(shop);
  const token = linkIn(await emailTo(shop, owner.email, 'verify_email')).split('#token=')[1];
  await shop.api.must('POST', '/v1/account/email/verify', { body: { token } });
  const body = { email, role: 'developer' };
  const made = await shop.api.must<{ invitation_id: string }>('POST', '/v1/account/invitations', { credential: owner.token, body });
  return { id: made.invitation_id, token: owner.token, link: linkIn(await emailTo(shop, email, 'invitation')) };
}

describe('invitation page', () => {
  it.each(['phone', 'desktop'] as const)(
    'the invited person sees who invites, signs in, accepts, and is in that account, on a %s',
    async (size) => {
      const bob = await register(shop);
      const { link } = await invite(bob.email);
      const { page, offences, shoot, close } = await shop.visit(size);
      await page.goto(link);
      await seeHeading(page, 'Join an account');
      await page.getByText(`${BUSINESS} invites you to ${BUSINESS}.`).waitFor();
      await page.getByText('Your role: developer').waitFor();
      expect(await page.locator('main').innerText()).not.toContain(bob.email);
      expect(new URL(page.url()).hash).toBe('');
      expect(await findViolations(page)).toEqual([]);
      await shoot('55-invitation');
      await press(page, 'Accept');
      await seeHeading(page, 'Sign in');
      await enter(page, bob.email);
      await seeHeading(page, 'Join an account');
      await press(page, 'Accept');
      await seeHeading(page, 'Home');
      const token = (await readSession(page))!;
      const me = await shop.api.must<{ role: string; email: string }>('GET', '/v1/account/me', { credential: token });
      expect([me.role, me.email]).toEqual(['developer', bob.email]);
      expect(offences).toEqual([]);
      await close();
    },
  );

  it('a new person creates an account from the invitation, accepts, and is in the account that invited', async () => {
    const email = newEmail();
    const { link } = await invite(email);
    const { page, close } = await shop.visit('phone');
    await page.goto(link);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await seeHeading(page, 'Create an account');
    await page.getByLabel('Your name or that of your business').fill('Bea');
    await page.getByLabel('E-mail').fill(email);
    await page.locator('input[name="password"]').fill(PASSWORD);
    await press(page, 'Create the account');
    await seeHeading(page, 'Join an account');
    await press(page, 'Accept');
    await seeHeading(page, 'Home');
    const me = await shop.api.must<{ role: string }>('GET', '/v1/account/me', { credential: (await readSession(page))! });
    expect(me.role).toBe('developer');
    await close();
  });

  it('a withdrawn invitation and a person of another address get a message', async () => {
    const [bob, cy] = [newEmail(), await register(shop)];
    const { id, token, link } = await invite(bob);
    const { page, close } = await shop.visit('phone');
    await page.goto(link);
    await press(page, 'Accept');
    await seeHeading(page, 'Sign in');
    await enter(page, cy.email);
    await seeHeading(page, 'Join an account');
    await press(page, 'Accept');
    await page.locator('.problem', { hasText: 'The invitation is for another e-mail address.' }).waitFor();
    await shop.api.must('DELETE', `/v1/account/invitations/${id}`, { credential: token });
    await page.reload();
    await seeHeading(page, 'This link no longer works');
    expect(await page.locator('main').innerText()).toContain('It was used or withdrawn');
    expect(await findViolations(page)).toEqual([]);
    await close();
  });
});
