import { copyText } from '../../browser/copy-text.ts';
import { readReceiptEmail, storeReceiptEmail } from '../../browser/receipt-email.ts';
import { fromBase58 } from '../../parts/bytes.ts';
import type { Actions } from '../notes.tsx';
import type { Report } from './page-state.ts';

const COPIED_MS = 2000;
const SIGNATURE_BYTES = 64;

export const newActions = (report: Report): Actions => ({
  payWith: (walletName) => report({ kind: 'walletPressed', walletName }),
  openPhone: () => report({ kind: 'phonePressed' }),
  cancel: () => report({ kind: 'cancelPressed' }),
  startAgain: () => report({ kind: 'startAgainPressed' }),
  startOver: () => report({ kind: 'startAnewPressed' }),
  dismissShort: () => report({ kind: 'shortDismissed' }),
  receiptEmail: readReceiptEmail,
  storeEmail: storeReceiptEmail,
  stay: () => report({ kind: 'stayPressed' }),
  chooseAsset: (asset) => report({ kind: 'assetChosen', asset }),
  finishIdentity: () => report({ kind: 'identityFinished' }),
  continueFound: () => report({ kind: 'foundContinued' }),
  declineFound: () => report({ kind: 'foundDeclined' }),
  copy: (what, text, event) => void copy(report, what, text, (event.currentTarget as Element).previousElementSibling),
  submitSignature: (event) => {
    event.preventDefault();
    const txSignature = String(new FormData(event.target as HTMLFormElement).get('signature')).trim();
    report({ kind: 'signatureEntered', txSignature, isWellFormed: fromBase58(txSignature)?.length === SIGNATURE_BYTES });
  },
});

async function copy(report: Report, what: string, text: string, shown: Element | null): Promise<void> {
  const isCopied = await copyText(text, shown);
  report({ kind: 'textCopied', what, isSelected: !isCopied });
  if (isCopied) setTimeout(() => report({ kind: 'copyShown', what }), COPIED_MS);
}
