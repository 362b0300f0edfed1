import type { Actions } from '../notes.tsx';
import { fromBase58 } from './bytes.ts';
import type { Report } from './page-state.ts';

const COPIED_MS = 2000;
const SIGNATURE_BYTES = 64;

/** What a person does on the page, as events. */
export const newActions = (report: Report): Actions => ({
  payWith: (walletName) => report({ kind: 'walletPressed', walletName }),
  openPhone: () => report({ kind: 'phonePressed' }),
  cancel: () => report({ kind: 'cancelPressed' }),
  startAgain: () => report({ kind: 'startAgainPressed' }),
  stay: () => report({ kind: 'stayPressed' }),
  chooseAsset: (asset) => report({ kind: 'assetChosen', asset }),
  finishIdentity: () => report({ kind: 'identityFinished' }),
  continueFound: () => report({ kind: 'foundContinued' }),
  declineFound: () => report({ kind: 'foundDeclined' }),
  copy: (what, text, event) => void copyText(report, what, text, (event.currentTarget as Element).previousElementSibling),
  submitSignature: (event) => {
    event.preventDefault();
    const txSignature = String(new FormData(event.target as HTMLFormElement).get('signature')).trim();
    report({ kind: 'signatureEntered', txSignature, isWellFormed: fromBase58(txSignature)?.length === SIGNATURE_BYTES });
  },
});

/** Where the browser does not let the page copy, the text is selected for the buyer to do it. */
async function copyText(report: Report, what: string, text: string, shown: Element | null): Promise<void> {
  // Absent where the page is not trusted with it, whatever its type says.
  const isCopied = await Promise.resolve(navigator.clipboard as Clipboard | undefined)
    .then((clipboard) => clipboard?.writeText(text).then(() => true) ?? false)
    .catch(() => false);
  if (!isCopied && shown) getSelection()?.selectAllChildren(shown);
  report({ kind: 'textCopied', what, isSelected: !isCopied });
  if (isCopied) setTimeout(() => report({ kind: 'copyShown', what }), COPIED_MS);
}
