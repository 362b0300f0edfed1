import { callApi } from '../../browser/call-api.ts';
import { signText, TO_SIGN_TEXT } from '../../browser/wallets/sign-text.ts';
import { callWallet, listWallets, onWalletsChange, openWallet } from '../../browser/wallets/wallets.ts';
import { toBase58 } from '../../parts/bytes.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';

interface Nonce {
  message_nonce: string;
  message: string;
}

/** Lists the wallets of the browser as buttons. The chosen one signs the text of the service, and the form sends the signature. */
function start(frame: HTMLElement, terms: WalletTerms): void {
  const form = frame.querySelector('form')!;
  const [none, declined] = ['#no-wallet', '#declined'].map((name) => frame.querySelector<HTMLElement>(name)!);
  const fill = (name: string, value: string): void => {
    (form.elements.namedItem(name) as HTMLInputElement).value = value;
  };
  const signIn = async (walletName: string): Promise<void> => {
    const open = await openWallet(terms, TO_SIGN_TEXT, walletName);
    const { address } = open.account;
    const issued = await callApi<Nonce>('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: address } });
    if (!issued.ok) throw new Error(issued.code);
    const { message, message_nonce } = issued.value;
    fill('signed_message', toBase58(await callWallet('failed', () => signText(open, terms, message))));
    fill('wallet_address', address);
    fill('message_nonce', message_nonce);
    form.submit();
  };
  const draw = (): void => {
    const wallets = listWallets(terms, TO_SIGN_TEXT).filter(({ isUsable }) => isUsable);
    none!.hidden = wallets.length > 0;
    for (const button of form.querySelectorAll('button')) button.remove();
    for (const { name } of wallets) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = (frame.dataset.button ?? '').replace('{wallet}', name);
      button.addEventListener('click', () => {
        declined!.hidden = true;
        signIn(name).catch(() => {
          declined!.hidden = false;
        });
      });
      form.append(button);
    }
  };
  draw();
  onWalletsChange(draw);
}

const frame = document.getElementById('wallets');
const facts = document.getElementById('facts')?.textContent;
if (frame && facts) start(frame, JSON.parse(facts) as WalletTerms);
