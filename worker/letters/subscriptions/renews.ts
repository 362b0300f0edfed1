import { formatInstant, formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const subscriptionRenewsLetter: Letter<LetterFacts['subscription_renews']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ authorization_id: id }) => `/s/${id}`,
  until: ({ at }) => at,
  values: ({ product, seller, amount, at }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    amount: formatMoney(locale, amount),
    at: formatInstant(locale, at, 'UTC'),
  }),
  words: {
    en: {
      subject: '{product} renews soon',
      lines: [
        'Your subscription to {product}, sold by {seller}, renews on {at}: {amount} will be collected from your wallet then.',
        'If you want to go on, there is nothing to do but to keep the amount in the wallet. You can cancel before that, with your wallet alone.',
      ],
      button: 'See or cancel the subscription',
    },
    es: {
      subject: '{product} se renueva pronto',
      lines: [
        'Su suscripción a {product}, vendido por {seller}, se renueva el {at}: entonces se cobrarán {amount} de su monedero.',
        'Si desea continuar, solo tiene que mantener el importe en el monedero. Puede cancelarla antes, solo con su monedero.',
      ],
      button: 'Ver o cancelar la suscripción',
    },
    de: {
      subject: '{product} verlängert sich bald',
      lines: [
        'Ihr Abonnement von {product}, verkauft von {seller}, verlängert sich am {at}: Dann werden {amount} aus Ihrer Wallet eingezogen.',
        'Möchten Sie es behalten, ist nichts zu tun, solange der Betrag in der Wallet liegt. Bis dahin können Sie es allein mit Ihrer Wallet kündigen.',
      ],
      button: 'Abonnement ansehen oder kündigen',
    },
    fr: {
      subject: '{product} sera bientôt renouvelé',
      lines: [
        'Votre abonnement à {product}, vendu par {seller}, sera renouvelé le {at} : {amount} seront alors prélevés sur votre portefeuille.',
        'Pour continuer, il suffit de garder ce montant dans le portefeuille. Vous pouvez l’annuler avant, avec votre portefeuille seul.',
      ],
      button: 'Voir ou annuler l’abonnement',
    },
    'pt-BR': {
      subject: '{product} será renovado em breve',
      lines: [
        'Sua assinatura de {product}, vendido por {seller}, será renovada em {at}: {amount} serão cobrados da sua carteira nesse momento.',
        'Para continuar, basta manter o valor na carteira. Você pode cancelar antes disso, apenas com a sua carteira.',
      ],
      button: 'Ver ou cancelar a assinatura',
    },
    ja: {
      subject: '{product}はまもなく更新されます',
      lines: [
        '{seller}が販売する{product}のサブスクリプションは{at}に更新され、その際に{amount}がウォレットから引き落とされます。',
        '継続される場合は、ウォレットに残高をご用意いただくだけです。更新前であれば、ウォレットだけでいつでも解約できます。',
      ],
      button: 'サブスクリプションを確認・解約する',
    },
  },
};
