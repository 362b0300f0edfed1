import { PAGE_ASSETS } from '../assets.ts';
import type { Refusal } from '../dashboard/frame/operations.ts';
import { demoWalletOf, type PageContext } from '../document.tsx';
import { Said } from '../parts/parts.tsx';
import { pathIn, type SayMe, sayMe, sendMe } from './frame.tsx';

/** Sentence above the ways in: after signing out, after the end of a session, or after a link was asked for. */
export type Notice = 'signedOut' | 'ended' | 'linkSent';
export const NOTICES: readonly string[] = ['signedOut', 'ended', 'linkSent'] satisfies Notice[];

interface Asked {
  notice?: Notice | undefined;
  refusal?: Refusal;
  email?: string | undefined;
}

/** Page of a buyer who is not signed in: by the wallet that paid, or by a link in an email. */
export async function sendSignIn(page: PageContext, { notice, refusal, email }: Asked = {}): Promise<Response> {
  const say = await sayMe(page.locale);
  const { config } = page.c.var.ctx;
  const wallet = { network: config.NETWORK, ownWallet: demoWalletOf(config) };
  return sendMe(
    page,
    { title: say('title'), status: refusal?.status ?? 200, scripts: [PAGE_ASSETS.me], wallet },
    <>
      <p>{say('help')}</p>
      {notice && <Said>{say(notice)}</Said>}
      {refusal && <Problem say={say} refusal={refusal} />}
      <WithWallet page={page} say={say} />
      <section aria-labelledby="with-email">
        <h2 id="with-email">{say('withEmail')}</h2>
        <p>{say('emailHelp')}</p>
        <form class="act" method="post" action={pathIn(page, '/me/email')}>
          <div class="field">
            <label for="email">{say('email')}</label>
            <input id="email" name="email" type="email" maxlength={254} required autocomplete="email" value={email} />
          </div>
          <button type="submit">{say('sendLink')}</button>
        </form>
      </section>
    </>,
  );
}

/** The script lists the wallets, and sends the form with what the chosen one signed. */
function WithWallet({ page, say }: { page: PageContext; say: SayMe }) {
  const host = new URL(page.c.var.ctx.baseUrl).host;
  return (
    <section aria-labelledby="with-wallet" id="wallets" data-button={say('walletButton', { wallet: '{wallet}' })}>
      <h2 id="with-wallet">{say('withWallet')}</h2>
      <p>{say('walletHelp', { host })}</p>
      <noscript>
        <p>{say('noScript')}</p>
      </noscript>
      <p id="no-wallet" hidden>
        {say('noWallet')}
      </p>
      <p class="wrong" role="alert" id="declined" hidden>
        {say('declined')}
      </p>
      <form class="act" method="post" action={pathIn(page, '/me/wallet')}>
        <input type="hidden" name="wallet_address" />
        <input type="hidden" name="signed_message" />
        <input type="hidden" name="message_nonce" />
      </form>
    </section>
  );
}

export const Problem = ({ say, refusal }: { say: SayMe; refusal: Refusal }) => (
  <div class="problem" role="alert" tabindex={-1} autofocus>
    <strong>{say('problem')}</strong>
    <p>{refusal.detail}</p>
    {refusal.problems.map(({ msg }) => (
      <p>{msg}</p>
    ))}
    <p class="quiet">
      {refusal.code} · {refusal.requestId}
    </p>
  </div>
);

/** Page behind the emailed link. Its button uses the link up, so that a scanner of emails does not. */
export async function sendLinkPage(page: PageContext, token: string): Promise<Response> {
  const say = await sayMe(page.locale);
  return sendMe(
    page,
    { title: say('linkTitle') },
    <section>
      <p>{say('linkHelp')}</p>
      <form class="act" method="post" action={pathIn(page, '/me/link')}>
        <input type="hidden" name="token" value={token} />
        <button type="submit">{say('linkButton')}</button>
      </form>
    </section>,
  );
}

/** Page of a link that opens nothing any more. */
export async function sendLinkGone(page: PageContext, status: number, help: 'linkGoneHelp' | 'portalGoneHelp'): Promise<Response> {
  const say = await sayMe(page.locale);
  return sendMe(
    page,
    { title: say('linkGone'), status },
    <section>
      <p>{say(help)}</p>
      <p>
        <a href={pathIn(page, '/me')}>{say('askAgain')}</a>
      </p>
    </section>,
  );
}
