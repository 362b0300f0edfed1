import { describe, expect, it } from 'vitest';
import { isWithoutKey } from '../../../worker/pages/dashboard/frame/api-section.tsx';
import { OPERATIONS } from '../../../worker/pages/dashboard/frame/operations.ts';
import { nameOf, targets } from '../../support/clients/document.ts';
import { openBrowser } from '../../support/clients/oauth.ts';
import { fieldOf, operationsOn, PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { App } from '../../support/people/authenticator-app.ts';
import { addApp, stepUpWith } from '../../support/people/factors.ts';
import { addMember, newHeir } from '../../support/people/team.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';

const PASSWORD = 'correct horse battery';
const w = new MailWorld();
const signedIn = (email: string) => signInToPages(w, email);

describe('session of the pages', () => {
  it('the cookie is HttpOnly, Secure and of this host, and no page contains the token', async () => {
    const owner = await w.merchant();
    const browser = new PageBrowser(w);
    const { response } = await browser.post('/login', { email: owner.email, password: PASSWORD });
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^__Host-svc_session=[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    const token = browser.cookies.get('__Host-svc_session')!;
    for (const path of ['/dashboard/team', '/dashboard/security', '/dashboard/log']) {
      const { status, text, response: read } = await browser.get(path);
      expect([path, status, text.includes(token)]).toEqual([path, 200, false]);
      expect(read.headers.get('Cache-Control')).toBe('no-store');
      expect(read.headers.get('Content-Security-Policy')).toMatch(/form-action 'self'; frame-ancestors 'none'/);
    }
  });

  it('the API ignores the cookie', async () => {
    const browser = await signedIn((await w.merchant()).email);
    expect((await browser.get('/v1/account/me')).status).toBe(401);
  });

  it('a reader who is signed out is led to the sign-in page and back, and to no other site', async () => {
    const browser = new PageBrowser(w);
    const { status, location } = await browser.get('/dashboard/log?action=key.created');
    expect([status, location]).toEqual([303, '/login?next=%2Fdashboard%2Flog%3Faction%3Dkey.created']);
    const { email } = await w.merchant();
    for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example'])
      expect((await browser.post('/login', { email, password: PASSWORD, next })).location).toBe('/dashboard');
  });

  it('a key opens no session, and a form beyond the size of a body is refused', async () => {
    const { key } = await w.merchant();
    const browser = new PageBrowser(w);
    expect([(await browser.post('/login', { token: key })).status, browser.cookies.size]).toEqual([401, 0]);
    expect((await browser.post('/login', { email: 'x'.repeat(2_000_000), password: PASSWORD })).status).toBe(413);
  });

  it('a wrong password answers 401 and asks again, without the password', async () => {
    const { email } = await w.merchant();
    const { status, text } = await new PageBrowser(w).post('/login', { email, password: 'wrong horse battery' });
    expect(status).toBe(401);
    expect(text).not.toContain('wrong horse battery');
    expect(text).toContain('name="password"');
  });

  it('a person with a factor enters its code as the second step, without a script', async () => {
    const owner = await w.merchant();
    const { app } = await addApp(w, owner.token);
    const browser = new PageBrowser(w);
    const asked = await browser.post('/login', { email: owner.email, password: PASSWORD });
    expect([asked.status, browser.cookies.size]).toEqual([401, 0]);
    const ticket = /name="ticket" value="([^"]+)"/.exec(asked.text)?.[1] ?? '';
    expect((await browser.post('/login', { ticket, code: '000000' })).status).toBe(401);
    expect((await browser.post('/login', { ticket, code: app.code(Date.now()) })).location).toBe('/dashboard');
  });

  it('signing out ends the session of the token', async () => {
    const browser = await signedIn((await w.merchant()).email);
    const token = browser.cookies.get('__Host-svc_session')!;
    expect((await browser.post('/dashboard/sign-out', {})).location).toBe('/login?why=out');
    expect(browser.cookies.has('__Host-svc_session')).toBe(false);
    expect((await w.call('GET', '/v1/account/me', { key: token })).status).toBe(401);
  });

  it('a session that ended elsewhere leads to the sign-in page, which says so', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    await w.call('DELETE', '/v1/account/sessions?keep_current=false', { key: browser.cookies.get('__Host-svc_session')! });
    expect((await browser.get('/dashboard/team')).location).toBe('/login?next=%2Fdashboard%2Fteam&why=ended');
    expect(browser.cookies.size).toBe(0);
  });
});

describe('forms from elsewhere', () => {
  it('a form from another site, or from nowhere, is refused with 403 and does nothing', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const form = { act: 'invite', email: 'bob@example.com', role: 'viewer' };
    for (const headers of [{ Origin: 'https://evil.example' }, { Origin: '' }, { Origin: 'null' }])
      expect((await browser.post('/dashboard/team', form, headers as never)).status).toBe(403);
    expect((await browser.get('/dashboard/team')).text).not.toContain('bob@example.com');
  });
});

describe('team screen', () => {
  it('an owner invites, withdraws, changes a role and removes, each with the API’s own calls', async () => {
    const owner = await w.merchant('growth');
    await verifyAddress(w, owner);
    const bob = await addMember(w, owner, 'viewer');
    const browser = await signedIn(owner.email);
    const { text } = await browser.get('/dashboard/team');
    expect(operationsOn(text)).toEqual(['listMembers', 'listInvitations', 'getAccount', 'listAccounts']);

    const key = fieldOf(text, 'invite', 'idempotency_key');
    const form = { act: 'invite', idempotency_key: key, email: 'new@example.com', role: 'support' };
    expect((await browser.post('/dashboard/team', form)).location).toBe('/dashboard/team');
    expect((await browser.post('/dashboard/team', form)).location).toBe('/dashboard/team');
    const invited = await browser.get('/dashboard/team');
    expect(invited.text.match(/role="status"/g)).toHaveLength(1);
    expect(invited.text.match(/new@example\.com<\/bdi>/g)).toHaveLength(1);
    expect((await browser.get('/dashboard/team')).text).not.toContain('role="status"');

    const id = fieldOf(invited.text, 'withdraw', 'id');
    expect((await browser.post('/dashboard/team', { act: 'withdraw', id })).status).toBe(303);
    expect((await browser.post('/dashboard/team', { act: 'role', id: bob.userId, role: 'finance' })).status).toBe(303);
    expect((await browser.get('/dashboard/team')).text).toContain('>finance</td>');
    expect((await browser.post('/dashboard/team', { act: 'remove', id: bob.userId })).status).toBe(303);
    expect((await w.call('GET', '/v1/account/me', { key: bob.token })).status).toBe(401);
  });

  it('an owner hands the account over and the member takes it over, each with a form', async () => {
    const { owner, heir } = await newHeir(w, 'viewer');
    const browser = await signedIn(owner.email);
    const form = { act: 'transfer', user_id: heir.userId, confirm: 'Ada’s weather' };
    expect((await browser.get('/dashboard/team')).text).toContain('value="transfer"');
    expect((await browser.post('/dashboard/team', { ...form, confirm: 'another' })).status).toBe(422);
    expect((await browser.post('/dashboard/team', form)).status).toBe(303);
    expect((await browser.get('/dashboard/team')).text).toContain('value="transfer_withdraw"');
    expect((await browser.post('/dashboard/team', { act: 'transfer_withdraw' })).status).toBe(303);
    expect((await browser.post('/dashboard/team', form)).status).toBe(303);
    const member = new PageBrowser(w);
    member.cookies.set('__Host-svc_session', heir.token);
    expect((await member.get('/dashboard/team')).text).toContain('value="transfer_accept"');
    expect((await member.post('/dashboard/team', { act: 'transfer_accept' })).status).toBe(303);
    expect((await w.call('GET', '/v1/account/me', { key: heir.token })).body.role).toBe('owner');
    expect((await browser.get('/dashboard/team')).text).not.toContain('value="transfer"');
  });

  it('the navigation names the pages that the role may read', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'viewer');
    for (const [token, isNamed] of [
      [owner.token, true],
      [bob.token, false],
    ] as const) {
      const browser = new PageBrowser(w);
      browser.cookies.set('__Host-svc_session', token);
      expect((await browser.get('/dashboard/team')).text.includes('href="/dashboard/log"')).toBe(isNamed);
    }
  });

  it('a refused form comes back with its status, what was typed, its code and its request id', async () => {
    const browser = await signedIn((await w.merchant()).email);
    const { status, text } = await browser.post('/dashboard/team', { act: 'invite', email: 'no address <b>', role: 'viewer' });
    expect(status).toBe(422);
    expect(text).toContain('role="alert"');
    expect(text).toContain('href="#invite-email"');
    expect(text).toMatch(/id="invite-email"[^>]*value="no address &lt;b&gt;"[^>]*aria-invalid="true"/);
    expect(text).toMatch(/validation_error · req_/);
  });

  it('a viewer reads the team without forms, and the API refuses what a forged form asks', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'viewer');
    const browser = new PageBrowser(w);
    browser.cookies.set('__Host-svc_session', bob.token);
    const { status, text } = await browser.get('/dashboard/team');
    expect([status, text.includes('value="invite"'), text.includes('value="leave"')]).toEqual([200, false, true]);
    const forged = await browser.post('/dashboard/team', { act: 'invite', email: 'x@example.com', role: 'admin' });
    expect([forged.status, forged.text.includes('role="alert"')]).toEqual([403, true]);
    expect((await browser.get('/dashboard/log')).status).toBe(403);
  });

  it('names with markup are text', async () => {
    const owner = await w.merchant('growth');
    await w.call('PATCH', '/v1/account/me', { key: owner.token, body: { display_name: '<script>alert(1)</script>' } });
    const { text } = await (await signedIn(owner.email)).get('/dashboard/team');
    expect(text).not.toContain('<script>alert');
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});

describe('security screen', () => {
  it('an authenticator app is set up with its code, and the recovery codes are shown once', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const begun = await browser.post('/dashboard/security', { act: 'totp_begin' });
    expect(begun.status).toBe(200);
    const secret = /<code>([A-Z2-7]{32})<\/code>/.exec(begun.text)?.[1] ?? '';
    expect((await browser.post('/dashboard/security', { act: 'totp_confirm', code: '000000' })).status).toBe(401);
    const confirmed = await browser.post('/dashboard/security', { act: 'totp_confirm', code: new App(secret).code(Date.now()) });
    expect(confirmed.status).toBe(200);
    const codes = [...confirmed.text.matchAll(/<li>([0-9a-z]{5}-[0-9a-z]{5})<\/li>/g)].map(([, code]) => code!);
    expect(codes).toHaveLength(10);
    const again = await browser.get('/dashboard/security');
    expect(codes.some((code) => again.text.includes(code))).toBe(false);
  });

  it('a person who proved themselves long ago confirms it first, and is led back', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const asked = await browser.get('/dashboard/confirm?next=%2Fdashboard%2Fsecurity');
    expect(asked.text).toContain('name="password"');
    const wrong = await browser.post('/dashboard/confirm', {
      act: 'password',
      password: 'wrong horse battery',
      next: '/dashboard/security',
    });
    expect([wrong.status, wrong.text.includes('value="/dashboard/security"')]).toEqual([401, true]);
    const before = browser.cookies.get('__Host-svc_session')!;
    const right = await browser.post('/dashboard/confirm', { act: 'password', password: PASSWORD, next: '/dashboard/security' });
    expect(right.location).toBe('/dashboard/security');
    expect(browser.cookies.get('__Host-svc_session')).not.toBe(before);
    expect((await w.call('GET', '/v1/account/me', { key: before })).status).toBe(401);
    const said = await browser.get('/dashboard/security');
    expect([said.text.includes('press it again'), said.text.includes('The password has changed')]).toEqual([true, false]);
  });

  it('one session, all others and all sessions end by their buttons', async () => {
    const owner = await w.merchant();
    const [here, there] = [await signedIn(owner.email), await signedIn(owner.email)];
    const id = fieldOf((await here.get('/dashboard/security')).text, 'session_end', 'id');
    expect((await here.post('/dashboard/security', { act: 'session_end', id })).status).toBe(303);
    expect((await here.post('/dashboard/security', { act: 'sessions_end' })).status).toBe(303);
    expect((await there.get('/dashboard/security')).location).toMatch(/^\/login/);
    expect((await here.post('/dashboard/security', { act: 'out_everywhere' })).location).toBe('/login?why=out');
    expect([...here.cookies.keys()]).toEqual([]);
    expect((await here.get('/dashboard/security')).location).toMatch(/^\/login/);
  });

  it.each(['google', 'github'])('%s is linked by a form and a link, comes back to the screen, and is unlinked', async (provider) => {
    const { browser: atProvider, ada } = await openBrowser(w, provider);
    const browser = await signedIn((await w.merchant()).email);
    const begun = await browser.post('/dashboard/security', { act: 'link', id: provider });
    const url = /href="([^"]+)">Continue at G/.exec(begun.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect([begun.status, url.startsWith('http')]).toEqual([200, true]);
    expect(operationsOn(begun.text)).toContain('startOAuth');
    // The state that the browser proves by its cookie is in the link alone, and not among the calls of the page.
    expect(begun.text.split(new URL(url).searchParams.get('state')!)).toHaveLength(2);
    const back = await atProvider.consent(url);
    expect((await new PageBrowser(w).get(back)).status).toBe(400);
    expect((await browser.get(back)).location).toBe(`/dashboard/security#linked=${provider}`);
    const linked = await browser.get('/dashboard/security');
    expect([linked.text.includes(ada.email), linked.text.includes(`id="linked=${provider}"`)]).toEqual([true, true]);
    expect(fieldOf(linked.text, 'unlink', 'id')).toBe(provider);
    expect((await browser.post('/dashboard/security', { act: 'unlink', id: provider })).status).toBe(303);
    expect((await browser.get('/dashboard/security')).text).not.toContain(ada.email);
  });

  it('a provider is linked only after a recent proof of the person', async () => {
    const browser = await signedIn((await w.merchant()).email);
    setTime(Date.now() + 16 * 60_000);
    const { location } = await browser.post('/dashboard/security', { act: 'link', id: 'google' });
    letTimeRun();
    expect(location).toBe('/dashboard/confirm?next=%2Fdashboard%2Fsecurity');
  });

  it('an owner with a factor requires one of members, and is asked to add one first without', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'viewer');
    const browser = await signedIn(owner.email);
    expect((await browser.get('/dashboard/security')).text).not.toContain('value="require_factor"');
    const { app } = await addApp(w, owner.token);
    browser.cookies.set('__Host-svc_session', await stepUpWith(w, owner.token, { totp: app.code() }));
    expect((await browser.get('/dashboard/security')).text).toContain('value="require_factor"');
    expect((await browser.post('/dashboard/security', { act: 'require_factor', require_factor: 'on' })).status).toBe(303);
    expect((await browser.get('/dashboard/security')).text).toContain('Stop requiring it');
    const member = new PageBrowser(w);
    member.cookies.set('__Host-svc_session', bob.token);
    expect((await member.get('/dashboard/team')).status).toBe(403);
    const { status, text } = await member.get('/dashboard/security');
    expect([status, text.includes('value="require_factor"')]).toEqual([200, false]);
    expect((await browser.post('/dashboard/security', { act: 'require_factor', require_factor: 'off' })).status).toBe(303);
    expect((await member.get('/dashboard/team')).status).toBe(200);
  });

  it('an account is closed only with its name typed', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    expect((await browser.post('/dashboard/security', { act: 'close', confirm: 'another name' })).status).toBe(422);
    expect((await browser.post('/dashboard/security', { act: 'close', confirm: 'Ada’s weather' })).location).toBe('/login?why=out');
    expect((await w.call('GET', '/v1/account/me', { key: owner.key })).status).toBe(401);
  });
});

describe('log screen', () => {
  it('entries are listed and filtered, and a filter that the API refuses is an alert above an empty list', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    expect((await browser.get('/dashboard/log')).text).toContain('session.started');
    const filtered = await browser.get('/dashboard/log?action=session.started');
    expect(filtered.text).toContain('<th scope="row">Session started <code>session.started</code></th>');
    const refused = await browser.get('/dashboard/log?action=nothing.known');
    expect([refused.status, refused.text.includes('role="alert"'), refused.text.includes('<th scope="row">')]).toEqual([422, true, false]);
    expect(operationsOn(filtered.text)).not.toContain('verifyAuditLog');
    expect((await browser.get('/dashboard/log?verify=true')).text).toContain('The chain is complete');
  });
});

describe('filters of lists', () => {
  it.each(['templates', 'payments', 'unmatched', 'receipts', 'customers', 'subscriptions', 'support', 'log'])(
    'the API accepts each choice of a filter at /dashboard/%s',
    async (name) => {
      const browser = await signedIn((await w.merchant()).email);
      const { text } = await browser.get(`/dashboard/${name}`);
      const choices = [...text.matchAll(/<select id="([a-z_]+)" name="\1">(.*?)<\/select>/gs)].flatMap(([, field, options]) =>
        [...options!.matchAll(/<option value="([^"]+)"/g)].map(([, value]) => `${field}=${value}`),
      );
      for (const choice of choices) expect([choice, (await browser.get(`/dashboard/${name}?${choice}`)).status]).toEqual([choice, 200]);
    },
  );
});

describe('public API alone', () => {
  it('each operation of the pages is one of the document, with its path', async () => {
    const published = new Map(targets.map((target) => [target.operation.operationId, nameOf(target)]));
    for (const [id, route] of Object.entries(OPERATIONS)) expect([id, published.get(id)]).toEqual([id, route]);
  });

  it('a call is shown with a key, or with a token where the document allows no key', async () => {
    for (const target of targets.filter(({ operation }) => operation.operationId && Object.hasOwn(OPERATIONS, operation.operationId))) {
      const takesKey = JSON.stringify(target.operation.security ?? []).includes('apiKey');
      expect([nameOf(target), isWithoutKey(nameOf(target))]).toEqual([nameOf(target), !takesKey]);
    }
    const { text } = await (await signedIn((await w.merchant()).email)).get('/dashboard/team');
    expect(text).toContain('/v1/account/me&quot; -H &quot;X-Svc-Key: $SVC_KEY&quot;</pre>');
    expect(text).toContain('/v1/account/members&quot; -H &quot;Authorization: Bearer $SVC_TOKEN&quot;</pre>');
    expect(text).toContain('<code>$SVC_KEY</code> is an <a href="/docs/keys-for-servers">API key</a>');
  });

  it('the calls of a page count in a bucket of their own, and not in the requests of the plan', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const remaining = async () =>
      Number((await w.call('GET', '/v1/account/me', { key: owner.token })).headers.get('X-RateLimit-Remaining'));
    const before = await remaining();
    await browser.get('/dashboard/team');
    expect(await remaining()).toBe(before - 1);
  });
});
