import { formatMoney, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const subscriptionPastDueLetter: Letter<LetterFacts['subscription_past_due']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ slug }) => `/p/${slug}`,
  alsoPath: ({ authorization_id: id }) => `/s/${id}`,
  values: ({ product, seller, amount }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    amount: formatMoney(locale, amount),
  }),
  words: {
    en: {
      subject: 'We could not collect for {product}',
      lines: [
        '{amount} for {product}, sold by {seller}, could not be collected: your wallet holds too little, or its account cannot send.',
        'Put the amount into your wallet: we try again by ourselves while the period lasts. Nothing was charged.',
      ],
      button: 'Show the product',
      also: 'See or cancel the subscription',
    },
    es: {
      subject: 'No hemos podido cobrar {product}',
      lines: [
        'No se han podido cobrar {amount} por {product}, vendido por {seller}: su monedero tiene muy poco, o su cuenta no puede enviar.',
        'Ponga el importe en su monedero: lo intentaremos de nuevo mientras dure el periodo. No se ha cobrado nada.',
      ],
      button: 'Ver el producto',
      also: 'Ver o cancelar la suscripción',
    },
    de: {
      subject: '{product} konnte nicht eingezogen werden',
      lines: [
        '{amount} für {product}, verkauft von {seller}, konnten nicht eingezogen werden: In Ihrer Wallet ist zu wenig, oder ihr Konto kann nichts senden.',
        'Legen Sie den Betrag in Ihre Wallet: Wir versuchen es von selbst wieder, solange der Zeitraum läuft. Es wurde nichts abgebucht.',
      ],
      button: 'Produkt zeigen',
      also: 'Abonnement ansehen oder kündigen',
    },
    fr: {
      subject: 'Le prélèvement pour {product} a échoué',
      lines: [
        '{amount} pour {product}, vendu par {seller}, n’ont pas pu être prélevés : votre portefeuille contient trop peu, ou son compte ne peut rien envoyer.',
        'Approvisionnez votre portefeuille : nous réessayons de nous-mêmes tant que la période dure. Rien n’a été prélevé.',
      ],
      button: 'Voir le produit',
      also: 'Voir ou annuler l’abonnement',
    },
    'pt-BR': {
      subject: 'Não foi possível cobrar {product}',
      lines: [
        'Não foi possível cobrar {amount} por {product}, vendido por {seller}: sua carteira tem pouco saldo, ou a conta dela não pode enviar.',
        'Coloque o valor na sua carteira: tentamos de novo enquanto o período durar. Nada foi cobrado.',
      ],
      button: 'Ver o produto',
      also: 'Ver ou cancelar a assinatura',
    },
    ja: {
      subject: '{product}のお支払いを回収できませんでした',
      lines: [
        '{seller}が販売する{product}の{amount}を回収できませんでした。ウォレットの残高が足りないか、口座から送金できません。',
        'ウォレットに残高をご用意ください。期間中は自動で再試行します。まだ何も引き落とされていません。',
      ],
      button: '商品を見る',
      also: 'サブスクリプションを確認・解約する',
    },
  },
};
