import { acted, idempotent } from '../frame/acts.ts';
import { ActForm, TextField, Time } from '../frame/fields.tsx';
import { Facts, listBody } from '../frame/list.tsx';
import { type Amount, amountOf } from '../frame/money.ts';
import { type Definition, linkTo } from '../frame/screen.tsx';

interface Receipt {
  receipt_id: string;
  tx_sig: string;
  public_url: string;
  sha256: string;
  key_id: string;
  link?: { seq: number };
  invoice_metadata?: { invoice_number?: string; reference?: string; bill_to?: { name?: string } };
  document: {
    amount: Amount;
    payer: string;
    recipient: string;
    product_name: string;
    memo: string;
    block_time: string;
    issued_at: string;
  };
}

export const RECEIPTS: Definition = {
  path: '/dashboard/receipts',
  title: 'Receipts',
  body: listBody<Receipt>({
    operation: 'listReceipts',
    filters: [
      { name: 'product_id', label: 'Product id' },
      { name: 'customer_id', label: 'Customer id' },
      { name: 'wallet', label: 'Wallet' },
      { name: 'direction', label: 'Direction', options: ['received', 'paid'] },
      { name: 'q', label: 'Receipt id, signature, wallet, email or words' },
    ],
    caption: 'Receipts, newest first',
    head: ['Receipt', 'Product', 'Amount', 'Paid by', 'When'],
    empty: (
      <p>
        Each confirmed payment gets a signed receipt. <a href="/docs/email-and-receipts">What is on it</a>
      </p>
    ),
    row: ({ receipt_id: id, document: { product_name: product, amount, payer, issued_at: at } }, screen) => (
      <tr>
        <th scope="row">
          <a href={linkTo(screen, `/dashboard/receipts/${id}`)}>{id}</a>
        </th>
        <td>
          <bdi>{product}</bdi>
        </td>
        <td>{amountOf(amount)}</td>
        <td>{payer}</td>
        <td>
          <Time at={at} />
        </td>
      </tr>
    ),
  }),
  acts: {},
};

export const RECEIPT: Definition = {
  path: '/dashboard/receipts/:receipt_id',
  title: 'Receipt',
  async body(screen) {
    const { c, operations, mode } = screen;
    const receipt = await operations.call<Receipt>('getReceipt', {
      params: { receipt_id: c.req.param('receipt_id') ?? '' },
      query: { mode },
    });
    if (!receipt.ok) return receipt;
    const {
      receipt_id: id,
      document,
      invoice_metadata: invoice,
      public_url: publicUrl,
      link,
      sha256,
      key_id: keyId,
      tx_sig: tx,
    } = receipt.value;
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Receipt', id],
              ['Product', <bdi>{document.product_name}</bdi>],
              ['Amount', amountOf(document.amount)],
              ['Paid by', document.payer],
              ['Paid to', document.recipient],
              ['Transaction', tx],
              ['Paid', <Time at={document.block_time} />],
              ['Invoice number', invoice?.invoice_number],
              ['Reference', invoice?.reference],
              ['Billed to', invoice?.bill_to?.name && <bdi>{invoice.bill_to.name}</bdi>],
              ['Number in the chain', link && String(link.seq)],
              ['SHA-256', sha256],
              ['Signed by', keyId],
            ]}
          />
          <p>
            <a href={publicUrl}>Public page</a> · <a href={`/v1/receipt/${id}/pdf`}>PDF</a>
          </p>
        </section>
        <section>
          <h2>Email the proof</h2>
          <ActForm screen={screen} act="send_proof" submit="Send">
            <TextField screen={screen} act="send_proof" name="email" label="Email address" type="email" max={254} />
          </ActForm>
        </section>
      </>
    );
  },
  acts: {
    send_proof: {
      done: 'The proof is on its way.',
      run: async ({ c, operations, mode }, form) =>
        acted(
          await operations.call('sendReceiptProof', {
            params: { receipt_id: c.req.param('receipt_id') ?? '' },
            query: { mode },
            body: { email: form.email?.trim() },
            ...idempotent(form),
          }),
        ),
    },
  },
};
