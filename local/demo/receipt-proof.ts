import { createHash } from 'node:crypto';
import { check } from './narrator.ts';
import type { Sale } from './purchase.ts';
import type { DemoContext } from './shop.ts';
import { canonicalize, type PublishedKeys, type PublishedReceipt, verifyReceipt } from './verify-receipt.ts';

type Receipt = PublishedReceipt & { receipt_id: string; document: { tx_sig: string; amount: { amount: string; base_units: string } } };

/** Verifies the receipt with a program that shares no code with the service, then tests that program on forgeries. */
export async function proveReceipt({ api, narrator }: DemoContext, sale: Sale): Promise<void> {
  narrator.step('Anybody can check the receipt without trusting the service');
  const receipt = await api.must<Receipt>('GET', `/v1/receipt/${sale.receiptId}/public`);
  const keys = await api.must<PublishedKeys>('GET', '/.well-known/svc-receipt-keys.json');
  const finding = verifyReceipt(receipt, keys);
  check(finding.valid, `The receipt does not verify: ${JSON.stringify(finding)}`);
  check(receipt.document.tx_sig === sale.signature, `The receipt speaks of another transaction: ${receipt.document.tx_sig}`);
  narrator.fact('receipt', receipt.receipt_id);
  narrator.fact('sha256', finding.sha256);
  narrator.fact('signed by', `key ${receipt.key_id}, published at /.well-known/svc-receipt-keys.json`);
  narrator.proven('local/demo/verify-receipt.ts, which imports nothing of the service, says: valid.');

  narrator.step('A forged receipt does not pass');
  const cheaper = {
    ...receipt,
    document: { ...receipt.document, amount: { ...receipt.document.amount, amount: '500', base_units: '500000000' } },
  };
  const first = verifyReceipt(cheaper, keys);
  check(!first.valid && first.reason === 'sha256_mismatch', `A changed amount was taken for ${JSON.stringify(first)}`);
  narrator.proven('"5" changed to "500": the hash does not match.');
  const second = verifyReceipt({ ...cheaper, sha256: createHash('sha256').update(canonicalize(cheaper.document)).digest('hex') }, keys);
  check(
    !second.valid && second.reason === 'signature_invalid',
    `A changed amount with its own hash was taken for ${JSON.stringify(second)}`,
  );
  narrator.proven('The hash changed to match: the signature does not.');
}
