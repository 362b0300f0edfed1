import type { Page } from 'playwright-core';
import { type Shop, seeHeading } from './shop.ts';

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

export async function enter(page: Page, email: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signIn(shop: Shop, page: Page, email: string): Promise<void> {
  await page.goto(`${shop.baseUrl}/login`);
  await enter(page, email);
  await seeHeading(page, 'Home');
}

/** Token of the browser's session, which only its cookie has. */
export async function readSession(page: Page): Promise<string | null> {
  const cookies = await page.context().cookies();
  return cookies.find(({ name }) => name === '__Host-svc_session')?.value ?? null;
}

type SentEmail = Record<string, string> & { to: string; text: string };

/** Waits for the newest email of a kind to an address. */
export async function emailTo(shop: Shop, email: string, kind: string): Promise<SentEmail> {
  for (let tries = 0; tries < 100; tries++) {
    const { items } = await shop.api.must<{ items: SentEmail[] }>('GET', '/dev/mail?format=json');
    const found = items.find(({ to, letter: template }) => to === email && template === kind);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no ${kind} to ${email}`);
}

export const linkIn = ({ text }: SentEmail): string => /https?:\S+#token=\S+/.exec(text)![0];

/** Adds a platform authenticator that holds passkeys and confirms its user (CDP WebAuthn). */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const options = {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
  } as const;
  await devtools.send('WebAuthn.addVirtualAuthenticator', { options: { ...options, automaticPresenceSimulation: true } });
}
