import { Code, InWallet } from '../parts/elsewhere.tsx';
import type { QrCode } from '../parts/qr.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { SayAny, SubscribeFacts } from './facts.ts';

interface ByPhoneProps {
  facts: SubscribeFacts;
  /** One in this browser can be asked. */
  hasWallet: boolean;
  /** The code is shown. */
  isOpen: boolean;
  open(): void;
  say: SayAny;
  drawCode?: ((text: string) => QrCode) | undefined;
}

/** For a wallet that is not in this browser: this page, on the phone where it is, or inside it. */
export function ByPhone({ facts, hasWallet, isOpen, open, say, drawCode }: ByPhoneProps) {
  // A wallet elsewhere knows nothing of the chain that a test is paid on.
  if (isTest(facts)) return null;
  if (facts.isPhone) {
    // The maker of a wallet is not to be shown a hand-off, which begins a purchase in its buyer's name.
    return hasWallet || facts.handoffToken !== null ? null : <InWallet href={facts.pageUrl} locale={facts.locale} say={say} />;
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
