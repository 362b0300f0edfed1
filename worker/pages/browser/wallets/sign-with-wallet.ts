import type { SolanaSignAndSendTransactionFeature, SolanaSignTransactionFeature } from '@solana/wallet-standard-features';
import { fromBase64, signatureOf, toBase58, toBase64 } from '../../parts/bytes.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import { callWallet, chainOf, type Features, type OpenWallet, WalletError } from './wallets.ts';

const SIGN = 'solana:signTransaction';
const SIGN_AND_SEND = 'solana:signAndSendTransaction';
export const TO_PAY: Features = [SIGN, SIGN_AND_SEND];

type Signed = { signedTransaction: string; txSignature: string } | { signedTransaction: null; txSignature: string };

/** True if the wallet can only sign and send. Then the wallet alone has the outcome. */
export const isSender = ({ wallet, account }: OpenWallet): boolean =>
  !(SIGN in wallet.features && (account.features as readonly string[]).includes(SIGN));

export const canSend = ({ wallet, account }: OpenWallet): boolean =>
  SIGN_AND_SEND in wallet.features && (account.features as readonly string[]).includes(SIGN_AND_SEND);

/**
 * `sends`: the wallet sends the transaction. Default: only if it cannot sign alone. Throws WalletError: `unclear` if a sending wallet
 * fails, because the transaction may have been sent.
 */
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
