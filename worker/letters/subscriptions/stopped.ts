import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

/** The merchant ended it. The consent on the chain ends only by the buyer's own wallet, to which the link leads. */
export const subscriptionStoppedLetter: Letter<LetterFacts['subscription_stopped']> = {
  pref: null,
  to: 'anyone',
  isOfMerchant: true,
  path: ({ authorization_id }) => `/s/${authorization_id}`,
  values: ({ product, seller, through }, locale) => ({
    product: plainName(product),
    seller: plainName(seller),
    through: formatInstant(locale, through, 'UTC'),
  }),
  words: {
    en: {
      subject: 'Your subscription was ended by its seller: {product}',
      lines: [
        '{seller} ended your subscription to {product}. We collect nothing more. What you have paid for lasts until {through}, unless it was paid back.',
        'The approval in your wallet still stands, and the owner of the plan could collect by it. Open the link and cancel it with your wallet.',
      ],
      button: 'Cancel the approval',
    },
    es: {
      subject: 'El vendedor ha terminado su suscripción: {product}',
      lines: [
        '{seller} ha terminado su suscripción a {product}. No cobraremos nada más. Lo que ha pagado dura hasta el {through}, salvo que se le haya devuelto.',
        'La autorización de su billetera sigue en pie y el titular del plan podría cobrar con ella. Abra el enlace y cancélela con su billetera.',
      ],
      button: 'Cancelar la autorización',
    },
    de: {
      subject: 'Der Verkäufer hat Ihr Abonnement beendet: {product}',
      lines: [
        '{seller} hat Ihr Abonnement von {product} beendet. Wir buchen nichts mehr ab. Was Sie bezahlt haben, gilt bis {through}, sofern es nicht erstattet wurde.',
        'Die Freigabe in Ihrer Wallet besteht noch, und der Inhaber des Tarifs könnte damit abbuchen. Öffnen Sie den Link und kündigen Sie sie mit Ihrer Wallet.',
      ],
      button: 'Freigabe kündigen',
    },
    fr: {
      subject: 'Le vendeur a mis fin à votre abonnement : {product}',
      lines: [
        '{seller} a mis fin à votre abonnement à {product}. Nous ne prélevons plus rien. Ce que vous avez payé dure jusqu’au {through}, sauf remboursement.',
        'L’autorisation de votre portefeuille existe encore, et le titulaire du forfait pourrait prélever par elle. Ouvrez le lien et résiliez-la avec votre portefeuille.',
      ],
      button: 'Résilier l’autorisation',
    },
    'pt-BR': {
      subject: 'O vendedor encerrou sua assinatura: {product}',
      lines: [
        '{seller} encerrou sua assinatura de {product}. Não cobraremos mais nada. O que você pagou vale até {through}, salvo se foi devolvido.',
        'A autorização da sua carteira continua valendo, e o dono do plano poderia cobrar por ela. Abra o link e cancele-a com sua carteira.',
      ],
      button: 'Cancelar a autorização',
    },
    ja: {
      subject: '販売者がサブスクリプションを終了しました: {product}',
      lines: [
        '{seller}が{product}のサブスクリプションを終了しました。今後の請求はありません。返金された場合を除き、お支払い済みの分は{through}まで有効です。',
        'ウォレットの承認はまだ残っており、プランの所有者が引き落とすことができます。リンクを開き、ウォレットで解約してください。',
      ],
      button: '承認を解約する',
    },
  },
};
