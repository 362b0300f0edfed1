import { client, PRODUCT } from '../../lib/svc';
import { readVisitor } from '../../lib/visitor';

/** Sends the visitor to the hosted checkout, as a known customer. The link is valid for one payment within ten minutes. */
export async function POST(): Promise<Response> {
  const visitor = await readVisitor();
  if (visitor === null) return new Response('Sign in first.', { status: 401 });
  // An https address. Without one, the checkout page shows the receipt.
  const { SITE_URL } = process.env;
  const { url } = await client.handoffs.create(PRODUCT, {
    customer_ref: visitor,
    ...(SITE_URL ? { success_url: `${SITE_URL}/members` } : {}),
  });
  return new Response(null, { status: 303, headers: { Location: url } });
}
