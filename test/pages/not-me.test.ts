import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { BUSINESS, emailTo, linkIn, newEmail, PASSWORD, register } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Changes the address of a new account as a thief would, and returns the link of the alert. */
async function stolenLink(): Promise<{ email: string; link: string }> {
  const { email, token } = await register(shop);
  const proof = linkIn(await emailTo(shop, email, 'verify_email')).split('#token=')[1];
  await shop.api.must('POST', '/v1/account/email/verify', { body: { token: proof } });
  const body = { email: newEmail(), current_password: PASSWORD };
  await shop.api.must('PATCH', '/v1/account/me/security', { credential: token, body });
  return { email, link: linkIn(await emailTo(shop, email, 'security_alert')) };
}

describe('not-me page', () => {
  it.each(['phone', 'desktop'] as const)(
    'the reader sees what will end, takes it back, and gets a link by email, on a %s',
    async (size) => {
      const { email, link } = await stolenLink();
      const { page, offences, shoot, close } = await shop.visit(size);
      await page.goto(link);
      await seeHeading(page, 'This was not me');
      await page.getByText(`changed in the account ${BUSINESS} since`).waitFor();
      expect(await page.getByRole('listitem').allInnerTexts()).toEqual(
        expect.arrayContaining(['Your e-mail address of before is restored', 'The password ends']),
      );
      expect(new URL(page.url()).hash).toBe('');
      expect(await findViolations(page)).toEqual([]);
      await shoot('56-not-me');
      await press(page, 'Take it back');
      await seeHeading(page, 'It is taken back');
      expect(await findViolations(page)).toEqual([]);
      expect(linkIn(await emailTo(shop, email, 'reset_password'))).toContain('/reset-password#token=');
      await page.goto(link);
      await seeHeading(page, 'This link no longer works');
      expect(offences).toEqual([]);
      await close();
    },
  );
});
