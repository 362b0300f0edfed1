import { expect } from 'vitest';
import { testEnv } from '../runner/env.ts';
import type { CallOptions, World } from '../world.ts';

export interface Somebody {
  subject: string;
  email: string;
  isEmailVerified: boolean;
  name: string;
  /** Google Workspace of the person. Absent: that of the address. Null: none. */
  workspace?: string | null;
}

let people = 0;
export const somebody = (over: Partial<Somebody> = {}): Somebody => {
  const subject = String(50_000 + ++people);
  return {
    subject,
    email: `person-${subject}-${crypto.randomUUID().slice(0, 8)}@example.com`,
    isEmailVerified: true,
    name: 'Somebody',
    ...over,
  };
};

export class OAuthBrowser {
  readonly #w: World;
  readonly provider: string;
  cookie = '';

  constructor(w: World, provider: string) {
    this.#w = w;
    this.provider = provider;
  }

  async #configure(what: 'person' | 'lies', facts: object): Promise<{ refusals: string[] }> {
    const id = String(this.#w.env[`${this.provider.toUpperCase()}_CLIENT_ID`]).slice('client-'.length);
    const response = await fetch(`${testEnv.TEST_OUTSIDE_URL}/identity/${id}/${what}`, { method: 'POST', body: JSON.stringify(facts) });
    return response.json();
  }

  readonly is = (person: Somebody) => this.#configure('person', person);
  readonly lies = (lies: object) => this.#configure('lies', lies);

  async start(query: Record<string, string> = {}, options: CallOptions = {}): Promise<string> {
    const path = `/v1/auth/oauth/${this.provider}/start?${new URLSearchParams(query)}`;
    const { status, body, headers } = await this.#w.call('GET', path, { ...options, headers: { Cookie: this.cookie, ...options.headers } });
    expect(status, JSON.stringify(body)).toBe(200);
    this.cookie = headers.get('Set-Cookie')!.split(';')[0]!;
    return body.authorization_url;
  }

  async consent(authorizationUrl: string): Promise<string> {
    const response = await fetch(authorizationUrl, { redirect: 'manual' });
    expect(response.status, await response.clone().text()).toBe(302);
    const { pathname, search } = new URL(response.headers.get('Location')!);
    return `${pathname}${search}`;
  }

  back(path: string, { cookie = this.cookie, headers = {}, ...options }: CallOptions & { cookie?: string } = {}) {
    return this.#w.call('GET', path, { ...options, headers: cookie === '' ? headers : { ...headers, Cookie: cookie } });
  }

  readonly register = () => this.signIn({ mode: 'register' });

  async signIn(
    query: Record<string, string> = {},
    options: CallOptions = {},
  ): Promise<{ page: string; outcome: Record<string, string>; cookie: string | null }> {
    const answer = await this.back(await this.consent(await this.start(query, options)));
    expect(answer.status, JSON.stringify(answer.body)).toBe(302);
    const [page, fragment] = answer.headers.get('Location')!.split('#');
    const outcome = Object.fromEntries(new URLSearchParams(fragment));
    return { page: page!, outcome, cookie: answer.headers.get('Set-Cookie') };
  }
}

/** Browser at an honest provider, and its person, who is unknown to this service. */
export async function openBrowser(w: World, provider: string): Promise<{ browser: OAuthBrowser; ada: Somebody }> {
  const browser = new OAuthBrowser(w, provider);
  const ada = somebody();
  await browser.is(ada);
  await browser.lies({});
  return { browser, ada };
}
