import type { Page } from 'playwright-core';
import { type Shop, seeHeading } from './shop.ts';

/** A merchant who signs in, and the letters this machine sent them. */
export const PASSWORD = 'correct horse battery';
export const BUSINESS = 'Ada’s Weather Ltd';

export const newEmail = (): string => `merchant-${crypto.randomUUID()}@example.com`;

export interface Registered {
  email: string;
  token: string;
}

export async function register(shop: Shop, email = newEmail()): Promise<Registered> {
  const body = { email, password: PASSWORD, display_name: BUSINESS };
  const { token } = await shop.api.must<{ token: string }>('POST', '/v1/auth/register', { body });
  return { email, token };
}

/** Fills the sign-in form that the page shows, and sends it. */
export async function enter(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signIn(shop: Shop, page: Page, email: string): Promise<void> {
  await page.goto(`${shop.baseUrl}/login`);
  await enter(page, email);
  await seeHeading(page, 'Account');
}

/** What the tab holds of a session; null where nobody is signed in. */
export const sessionOf = (page: Page): Promise<unknown> => page.evaluate("sessionStorage.getItem('svc:session')");

interface SentLetter {
  letter: string;
  to: string;
  text: string;
}

/** The newest letter of a kind to an address, once it was written. */
export async function letterTo(shop: Shop, email: string, kind: string): Promise<SentLetter> {
  for (let tries = 0; tries < 100; tries++) {
    const { items } = await shop.api.must<{ items: SentLetter[] }>('GET', '/dev/mail?format=json');
    const letter = items.find((one) => one.to === email && one.letter === kind);
    if (letter) return letter;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no ${kind} to ${email}`);
}

/** Where the link of a letter leads. */
export const linkIn = ({ text }: SentLetter): string => /https?:\S+#token=\S+/.exec(text)![0];
