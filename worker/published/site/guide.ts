/**
 * Commands on `/docs`, for this deployment. A test runs them with its own wallet.
 * @module
 */

/** First sale from scratch. `PAYOUT` is the paid wallet. */
export const firstSale = (baseUrl: string): string => `BASE=${baseUrl}
PAYOUT='the address of your own Solana wallet'
json() { node -e "const t = require('fs').readFileSync(0, 'utf8'); let v; try { v = JSON.parse(t)$1 } catch {}
  if (v === undefined) { process.stderr.write(t); process.exit(1) } process.stdout.write(v + '\\n')"; }

TOKEN=$(curl -sS --fail-with-body $BASE/v1/auth/register -H 'content-type: application/json' \\
  -d '{"email":"ada-'$RANDOM$RANDOM'@example.com","password":"correct horse battery","display_name":"Ada"}' | json .token)

KEY=$(curl -sS --fail-with-body $BASE/v1/keys -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '{"name":"server","permissions":["read","execute"]}' | json .raw_key)

api() { curl -sS --fail-with-body -H "x-svc-key: $KEY" -H 'content-type: application/json' "$@"; }
api $BASE/v1/products -d '{"name":"Weather API","price":{"asset":"USDC","amount":"5"},"access_period_days":30,"usage_units":null,
  "payout_wallet":"'"$PAYOUT"'"}' > product.json
PRODUCT=$(json .product_id < product.json)
json .checkout_url < product.json`;
