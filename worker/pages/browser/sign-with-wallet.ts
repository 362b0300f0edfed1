import type { SolanaSignAndSendTransactionFeature, SolanaSignTransactionFeature } from '@solana/wallet-standard-features';
import { fromBase64, signatureOf, toBase58, toBase64 } from '../parts/bytes.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';
import { callWallet, chainOf, type Features, type OpenWallet, WalletError } from './wallets.ts';

const SIGN = 'solana:signTransaction';
const SIGN_AND_SEND = 'solana:signAndSendTransaction';
/** What a wallet that pays has to do: sign, or sign and send. */
export const TO_PAY: Features = [SIGN, SIGN_AND_SEND];

/** Signed and ours to send, or already sent by a wallet that insists. */
type Signed = { signedTransaction: string; txSignature: string } | { signedTransaction: null; txSignature: string };

/** Whether the wallet sends what it signs: then it alone knows what became of it. */
export const isSender = ({ wallet, account }: OpenWallet): boolean =>
  !(SIGN in wallet.features && (account.features as readonly string[]).includes(SIGN));

/** Whether the wallet sends what it signs, if it is asked to. */
export const canSend = ({ wallet, account }: OpenWallet): boolean =>
  SIGN_AND_SEND in wallet.features && (account.features as readonly string[]).includes(SIGN_AND_SEND);

/** `sends`: the wallet is asked to send, which by default only one is that does nothing else. */
export function signWith(open: OpenWallet, terms: WalletTerms, transaction: string, sends = isSender(open)): Promise<Signed> {
  const { wallet, account } = open;
  const input = () => ({ account, chain: chainOf(terms), transaction: fromBase64(transaction) });
  if (!sends) {
    return callWallet('failed', async () => {
      const feature = (wallet.features as unknown as SolanaSignTransactionFeature)[SIGN];
      const [output] = await feature.signTransaction(input());
      const txSignature = signatureOf(output!.signedTransaction);
      if (txSignature === null) throw new Error('nothing signed');
      return { signedTransaction: toBase64(output!.signedTransaction), txSignature };
    });
  }
  if (!(SIGN_AND_SEND in wallet.features)) throw new WalletError('failed', 'cannot sign');
  return callWallet('unclear', async () => {
    const feature = (wallet.features as unknown as SolanaSignAndSendTransactionFeature)[SIGN_AND_SEND];
    const [output] = await feature.signAndSendTransaction(input());
    return { signedTransaction: null, txSignature: toBase58(output!.signature) };
  });
}
