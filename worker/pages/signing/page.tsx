import { localPathOf } from '#core/local-path.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { demoWalletOf, ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadSigningTexts } from '../locales/dictionaries.ts';
import { sayIn } from '../parts/text.ts';
import { FIRST_SIGNING, type SigningFacts } from './machine.ts';
import { SigningPanel } from './view.tsx';

/**
 * `/sign?next=<path>#<transaction>`: describes a prepared transaction and has a wallet sign it. The server never sees the transaction. The
 * person continues at `next`, which gets the signature as `tx_signature`.
 */
export async function sendSigning(page: PageContext): Promise<Response> {
  const { config } = page.c.var.ctx;
  const text = { ...page.text, ...(await loadSigningTexts(page.locale)) };
  const facts: SigningFacts = {
    locale: page.locale,
    text,
    network: config.NETWORK,
    ownWallet: demoWalletOf(config),
    usdcMints: [config.network.usdcMint],
    next: localPathOf(page.c.req.query('next') ?? ''),
  };
  const say = sayIn(text);
  const { scripts, alsoConnectTo } = ownWalletParts(facts.ownWallet);
  return sendPage(
    page,
    { title: say('gTitle'), layout: 'plain', scripts: [...scripts, PAGE_ASSETS.signing], facts, isUnframed: true, alsoConnectTo },
    <main>
      <p class="hidden" role="status" aria-live="polite" id="announcement" />
      <div id="panel">
        <SigningPanel facts={facts} state={FIRST_SIGNING} say={say} />
      </div>
      <noscript>
        <p class="notice">{say('needsScript')}</p>
      </noscript>
    </main>,
  );
}
