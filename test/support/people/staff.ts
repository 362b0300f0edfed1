import type { Merchant, World } from '../world.ts';

export const OPERATOR_SECRET = 'the secret of the operator of a test world';

export async function openStaff(w: World): Promise<Merchant> {
  const staff = await w.merchant();
  const headers = { 'X-Svc-Operator-Secret': OPERATOR_SECRET };
  const { status } = await w.call('POST', '/v1/operator/accounts', { headers, body: { account: staff.userId, action: 'staff' } });
  if (status !== 200) throw new Error(`not made staff: ${status}`);
  return staff;
}
