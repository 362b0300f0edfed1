import { createClient } from '@paylatch/sdk';
import { protect } from '@paylatch/sdk/express';
import express, { type RequestHandler } from 'express';

const METRES: Record<string, number> = { mile: 1609.344, league: 4828.032, fathom: 1.8288 };

const client = createClient({ baseUrl: process.env.SVC_BASE_URL!, key: process.env.SVC_API_KEY! });
const paid = protect({ client, product: process.env.SVC_PRODUCT!, onError: console.error });

/** Answers 404 before anybody pays: every answer of a protected handler below 500 is a sale. */
const isKnown: RequestHandler = (req, res, next) =>
  Object.hasOwn(METRES, String(req.params.unit)) ? next() : void res.status(404).json({ units: Object.keys(METRES) });

const app = express();
app.get('/', (_req, res) => void res.json({ sells: 'GET /metres/{unit}, one payment each, over x402', units: Object.keys(METRES) }));
app.get('/metres/:unit', isKnown, paid, (req, res) => {
  const unit = String(req.params.unit);
  res.json({ unit, metres: METRES[unit], paid_by: req.svc?.payment?.payer });
});
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
