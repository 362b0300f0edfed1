import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { expect } from 'vitest';
import worker from '../../../worker/index.ts';
import type { World } from '../world.ts';

const PASSWORD = 'correct horse battery';
const ORIGIN = 'https://svc.test';

interface Read {
  status: number;
  location: string | null;
  text: string;
  response: Response;
}

/** Browser without scripts: cookies, forms and redirects. */
export class PageBrowser {
  readonly cookies = new Map<string, string>();
  readonly #w: World;

  constructor(w: World) {
    this.#w = w;
  }

  async send(
    path: string,
    { form, headers = {} }: { form?: Record<string, string>; headers?: Record<string, string> } = {},
  ): Promise<Read> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const execution = createExecutionContext();
    const response = await worker.fetch(
      new Request(`${ORIGIN}${path}`, {
        redirect: 'manual',
        headers: {
          Accept: 'text/html',
          'CF-Connecting-IP': this.#w.address,
          ...(cookie ? { Cookie: cookie } : {}),
          ...(form ? { Origin: ORIGIN } : {}),
          ...headers,
        },
        ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
      }),
      this.#w.env,
      execution,
    );
    await waitOnExecutionContext(execution);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, location: response.headers.get('Location'), text: await response.text(), response };
  }

  get = (path: string) => this.send(path);
  post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => this.send(path, { form, headers });
}

/** Browser of a person who has signed in with the password of all test accounts. */
export async function signInToPages(w: World, email: string, password = PASSWORD): Promise<PageBrowser> {
  const browser = new PageBrowser(w);
  expect((await browser.post('/login', { email, password, next: '/dashboard/team' })).location).toBe('/dashboard/team');
  return browser;
}

/** Value of a hidden field of the first form of an act. */
export const fieldOf = (text: string, act: string, name: string): string =>
  new RegExp(`name="act" value="${act}".*?name="${name}" value="([^"]*)"`, 's').exec(text)?.[1] ?? '';
/** Operations that the page lists as its calls. */
export const operationsOn = (text: string): string[] => [...text.matchAll(/data-operation="(\w+)"/g)].map(([, id]) => id!);
