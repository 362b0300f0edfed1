import { Code, InWallet } from '../parts/elsewhere.tsx';
import type { QrCode } from '../parts/qr.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { SayAny, SubscribingFacts } from './facts.ts';

interface ByPhoneProps {
  facts: SubscribingFacts;
  hasWallet: boolean;
  isOpen: boolean;
  open(): void;
  say: SayAny;
  drawCode?: ((text: string) => QrCode) | undefined;
}

/** Opens this page on a phone by QR code, or inside a wallet. */
export function ByPhone({ facts, hasWallet, isOpen, open, say, drawCode }: ByPhoneProps) {
  // No other wallet has the chain of a test payment.
  if (isTest(facts)) return null;
  if (facts.isPhone) {
    // A hand-off begins a purchase in its buyer's name and must not pass a wallet maker's server.
    const hasHandoff = facts.page === 'subscribe' && facts.handoffToken !== null;
    return hasWallet || hasHandoff ? null : <InWallet href={facts.pageUrl} locale={facts.locale} say={say} />;
  }
  return (
    <section class="way" aria-label={say('scanTitle')}>
      <h3>{say('scanTitle')}</h3>
      {isOpen ? (
        <>
          <Code text={facts.pageUrl} label={say('sQrLabel')} drawCode={drawCode} />
          <p class="quiet centred">{say('sScanHelp')}</p>
        </>
      ) : (
        <button type="button" class={hasWallet ? 'plain-button' : 'button'} onClick={open}>
          {say('scanButton')}
        </button>
      )}
    </section>
  );
}
