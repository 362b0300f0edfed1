import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const subscriptionCancelledLetter: Letter<LetterFacts['subscription_cancelled']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ slug }) => `/p/${slug}`,
  values: ({ product, seller, through }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    through: formatInstant(locale, through, 'UTC'),
  }),
  words: {
    en: {
      subject: 'Your subscription is cancelled: {product}',
      lines: [
        'Your subscription to {product}, sold by {seller}, is cancelled. Nothing more will be collected.',
        'What you have paid for lasts until {through}.',
      ],
      button: 'Show the product',
    },
    es: {
      subject: 'Su suscripción está cancelada: {product}',
      lines: [
        'Su suscripción a {product}, vendido por {seller}, está cancelada. No se cobrará nada más.',
        'Lo que ha pagado dura hasta el {through}.',
      ],
      button: 'Ver el producto',
    },
    de: {
      subject: 'Ihr Abonnement ist gekündigt: {product}',
      lines: [
        'Ihr Abonnement von {product}, verkauft von {seller}, ist gekündigt. Es wird nichts mehr eingezogen.',
        'Was Sie bezahlt haben, gilt bis {through}.',
      ],
      button: 'Produkt zeigen',
    },
    fr: {
      subject: 'Votre abonnement est annulé : {product}',
      lines: [
        'Votre abonnement à {product}, vendu par {seller}, est annulé. Rien ne sera plus prélevé.',
        'Ce que vous avez payé dure jusqu’au {through}.',
      ],
      button: 'Voir le produit',
    },
    'pt-BR': {
      subject: 'Sua assinatura foi cancelada: {product}',
      lines: [
        'Sua assinatura de {product}, vendido por {seller}, foi cancelada. Nada mais será cobrado.',
        'O que você pagou vale até {through}.',
      ],
      button: 'Ver o produto',
    },
    ja: {
      subject: 'サブスクリプションは解約されました: {product}',
      lines: [
        '{seller}が販売する{product}のサブスクリプションは解約されました。今後の引き落としはありません。',
        'お支払い済みの期間は{through}までご利用いただけます。',
      ],
      button: '商品を見る',
    },
  },
};
