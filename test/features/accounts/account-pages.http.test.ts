import { describe, expect, it } from 'vitest';
import type { AccountFacts, LoginFacts } from '../../../worker/pages/account/facts.ts';
import { PAGE_ASSETS } from '../../../worker/pages/assets.ts';
import { directivesOf, getPage } from '../../support/clients/page.ts';
import { World } from '../../support/world.ts';

const w = new World();
const get = (path: string, headers: Record<string, string> = {}, env = w.env) => getPage(w, path, headers, env);
const factsOf = <T extends AccountFacts>(html: string): T => JSON.parse(/id="facts"[^>]*>([^<]*)</.exec(html)![1]!) as T;

describe('account pages', () => {
  it.each(['/login', '/verify-email', '/reset-password', '/sign-in', '/sign'])(
    '%s allows only its own script and cannot be framed',
    async (path) => {
      const env = { ...w.env, FRAME_ANCESTORS: 'https://shop.example' };
      const { status, html, headers } = await get(path, {}, env);
      expect(status).toBe(200);
      const nonce = /script-src 'nonce-([\w-]{24})'/.exec(headers.get('content-security-policy')!)![1]!;
      expect(directivesOf(headers)).toEqual({
        'default-src': ["'none'"],
        'script-src': [`'nonce-${nonce}'`],
        'style-src': [`'nonce-${nonce}'`],
        'img-src': ["'self'", 'https:', 'data:'],
        'connect-src': ["'self'"],
        'base-uri': ["'none'"],
        'form-action': [path === '/login' ? "'self'" : "'none'"],
        'frame-ancestors': ["'none'"],
      });
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cache-control': 'private, no-cache',
        'cross-origin-opener-policy': 'same-origin-allow-popups',
        'strict-transport-security': expect.stringContaining('max-age='),
      });
      expect(headers.get('set-cookie')).toBeNull();
      expect(html).not.toMatch(/\son\w+=|style="|javascript:/i);
      const scripts = [...html.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes!);
      expect(scripts).toHaveLength(2);
      for (const attributes of scripts) expect(attributes).toContain(`nonce="${nonce}"`);
      expect(html).toContain(path === '/sign' ? PAGE_ASSETS.signing : PAGE_ASSETS.account);
      // Without `method="post"`, a form sent before the script runs would put its values into the URL.
      for (const [form] of html.matchAll(/<form[^>]*>/g)) expect(form).toContain('method="post"');
      expect((await get(`${path}//`)).headers.get('location')).toBe(path);
      expect((await get(path)).headers.get('content-security-policy')).not.toContain(nonce);
    },
  );

  it('the demo wallet is offered on /login only if DEMO_WALLET is set', async () => {
    expect((await get('/login')).html).not.toMatch(/demo-wallet/);
    const local = await get('/login', {}, { ...w.env, DEMO_WALLET: 'true' });
    expect(local.html).toContain(PAGE_ASSETS.demoWallet);
    expect(directivesOf(local.headers)['connect-src']).toEqual(["'self'", new URL(w.env.RPC_URL as string).origin]);
    expect((await get('/verify-email', {}, { ...w.env, DEMO_WALLET: 'true' })).html).not.toContain(PAGE_ASSETS.demoWallet);
  });

  it('the login page offers only configured providers', async () => {
    const readProviders = async (over: object) => {
      const { ways, providers } = factsOf<LoginFacts>((await get('/login', {}, { ...w.env, ...over })).html);
      return { isWay: ways.includes('provider'), names: providers.map(({ name }) => name) };
    };
    expect(await readProviders({})).toEqual({ isWay: true, names: ['google', 'github'] });
    expect(await readProviders({ GOOGLE_CLIENT_ID: '' })).toEqual({ isWay: true, names: ['github'] });
    expect(await readProviders({ GOOGLE_CLIENT_ID: '', GITHUB_CLIENT_SECRET: '' })).toEqual({ isWay: false, names: [] });
    const { html } = await get('/login', {}, { ...w.env, GITHUB_CLIENT_SECRET: '' });
    expect(html).toContain('Sign in with Google');
    expect(html).not.toContain('GitHub');
  });

  it('the return path of a provider preserves next, and omits a next that is too long', async () => {
    const readReturnPath = async (next: string) =>
      factsOf<LoginFacts>((await get(`/login?locale=de&next=${encodeURIComponent(next)}`)).html).returnPath;
    expect(await readReturnPath('/r/one?x=1')).toBe('/login?locale=de&next=%2Fr%2Fone%3Fx%3D1');
    expect(await readReturnPath(`/r/${'x'.repeat(600)}`)).toBe('/login?locale=de');
  });

  it('next leads only to a path of this site, and no other query value is echoed', async () => {
    const readNext = async (next: string) => factsOf<LoginFacts>((await get(`/login?next=${encodeURIComponent(next)}`)).html).next;
    expect(await readNext('/r/one?locale=de&x=%2F')).toBe('/r/one?locale=de&x=%2F');
    for (const next of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      '/..//evil.example',
      '/\t/evil.example',
      'javascript:1',
    ])
      expect(await readNext(next), next).toBe('/dashboard');
    const hostile = '</script><script>alert(1)</script>';
    const query = ['next', 'why', 'form', 'locale'].map((name) => `${name}=${encodeURIComponent(`/${hostile}`)}`).join('&');
    const { html } = await get(`/login?${query}&__proto__=1`);
    expect(html).not.toContain('<script>alert');
    expect(factsOf<LoginFacts>(html)).toMatchObject({ form: 'choosing', notice: null });
    for (const why of ['constructor', '__proto__', 'toString'])
      expect(factsOf<LoginFacts>((await get(`/login?why=${why}`)).html).notice).toBeNull();
    expect(factsOf<LoginFacts>((await get('/login?why=out&form=forgotten')).html)).toMatchObject({
      form: 'forgotten',
      notice: 'signedOut',
    });
  });

  it('pages use the requested locale and pass it on, and buyer texts are not sent along', async () => {
    const { html, headers } = await get('/login?locale=de');
    expect(headers.get('content-language')).toBe('de');
    expect(html).toContain('Anmelden');
    expect(factsOf<LoginFacts>(html)).toMatchObject({ next: '/dashboard?locale=de', loginPath: '/login?locale=de' });
    expect(html).not.toContain('So läuft die Zahlung ab');
    expect((await get('/login', { 'Accept-Language': 'ja' })).html).toContain('ログイン');
    const product = await w.product(await w.merchant());
    expect((await get(`/p/${product.slug}`)).html).not.toContain('Forgotten');
  });
});
