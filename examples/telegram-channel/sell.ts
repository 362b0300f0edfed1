import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, isSvcError } from '@paylatch/sdk';

const { SVC_BASE_URL, SVC_API_KEY, PAYOUT_WALLET, CHAT_ID } = process.env;
const client = createClient({ baseUrl: SVC_BASE_URL!, key: SVC_API_KEY! });
const PRODUCT = 'the-channel';

const isClaimed = async () => (await client.delivery.listClaims()).items.some(({ chat_id }) => chat_id === CHAT_ID);

// Whoever can post in the channel as its administrator owns it. The bot of the service reads the code there.
if (!(await isClaimed())) {
  const { code } = await client.delivery.beginClaim({ provider: 'telegram' });
  console.log(`Add the bot to the channel as an administrator who may invite and ban, and post: ${code}`);
  while (!(await isClaimed())) await sleep(1_000);
}
console.log(`The channel ${CHAT_ID} is yours.`);

try {
  const { checkout_url } = await client.products.create({
    external_product_id: PRODUCT,
    name: 'The channel, 30 days',
    price: { asset: 'USDC', amount: '10' },
    payout_wallet: PAYOUT_WALLET!,
    access_period_days: 30,
    // A member who forgets to renew has a day left.
    grace_hours: 24,
    product_type: 'telegram',
    delivery: { provider: 'telegram', chat_id: CHAT_ID! },
  });
  console.log(`Share this page: ${checkout_url}`);
} catch (error) {
  if (!isSvcError(error, 'state_conflict')) throw error;
  console.log('The product exists since an earlier run.');
}
