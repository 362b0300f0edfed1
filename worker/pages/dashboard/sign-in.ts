import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '#platform/http/openapi.ts';
import { sendLogin } from '../account/pages.tsx';
import type { PostedSignIn } from '../account/plain-sign-in.tsx';
import { openPage } from '../document.tsx';
import { codeProofOf, nextOf } from './frame/acts.ts';
import { Operations } from './frame/operations.ts';
import type { Form } from './frame/screen.tsx';
import { claimsOf, readToken, storeToken } from './frame/session.ts';

/** Refusal of a credential that is no session, such as a key. */
const NO_SESSION = { ok: false, status: 401, code: 'invalid_credentials', meta: {} } as const;

/**
 * Signs in by the form of `/login`: email and password, the second step with its ticket, or a token that a script of the page got from a
 * wallet, passkey or provider. The cookie is set for a token that the API accepts.
 */
export async function postSignIn(c: Context<AppEnv>, form: Form): Promise<Response> {
  const { email = '', password = '', ticket, code = '', token } = form;
  const operations = new Operations(c, token ?? null);
  if (token !== undefined) {
    const account = claimsOf(token) === null ? NO_SESSION : await operations.call('getAccount');
    return account.ok ? enter(c, token, form) : refuse(c, { status: account.status, failure: account, next: nextOf(form) });
  }
  const answer =
    ticket === undefined
      ? await operations.call<{ token: string }>('login', { body: { email: email.trim(), password } })
      : await operations.call<{ token: string }>('loginWithFactor', { body: { ticket, ...codeProofOf(code) } });
  if (answer.ok) return enter(c, answer.value.token, form);
  const { ticket: asked = ticket, methods = null } = answer.meta;
  return refuse(c, {
    status: answer.status,
    failure: answer,
    next: nextOf(form),
    ...(asked === undefined ? {} : { factor: { ticket: asked, methods } }),
  });
}

/** Accepts an invitation in the session of this browser, which goes on in the account that invited. Answers as the API. */
export async function postInvitation(c: Context<AppEnv>, { token = '' }: Form): Promise<Response> {
  const operations = new Operations(c, readToken(c));
  const accepted = await operations.answer('acceptInvitation', { body: { token } });
  const body = (await accepted.json()) as { account_id: string };
  if (accepted.ok) {
    const entered = await operations.call<{ token: string }>('switchAccount', { body: { account_id: body.account_id } });
    if (entered.ok) storeToken(c, entered.value.token);
  }
  return c.json(body, accepted.status as ContentfulStatusCode);
}

/** Ends the session that this browser had, so that signing out later ends all that it opened. */
async function enter(c: Context<AppEnv>, token: string, form: Form): Promise<Response> {
  const former = readToken(c);
  if (former !== null && claimsOf(former)?.sid !== claimsOf(token)?.sid)
    await new Operations(c, former).call('logout', { body: { end: 'session' } });
  storeToken(c, token);
  return c.redirect(nextOf(form), 303);
}

const refuse = async (c: Context<AppEnv>, posted: PostedSignIn): Promise<Response> => sendLogin(await openPage(c), posted);
