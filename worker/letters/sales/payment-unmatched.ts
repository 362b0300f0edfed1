import { formatMoney } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const paymentUnmatchedLetter: Letter<LetterFacts['payment_unmatched']> = {
  pref: 'payouts',
  to: 'owner',
  path: () => '/docs#unmatched',
  values: ({ amount, payment_id }, locale) => ({ amount: formatMoney(locale, amount), payment: payment_id }),
  words: {
    en: {
      subject: 'Money arrived that pays no order',
      lines: [
        '{amount} reached your wallet, but did not pay what was asked for. The payment is {payment}.',
        'You can accept it as it is, or send it back. There may be more of these; you hear of them at most once an hour.',
      ],
      button: 'What to do',
    },
    es: {
      subject: 'Ha llegado dinero que no paga ningún pedido',
      lines: [
        '{amount} llegaron a su billetera, pero no pagan lo que se pedía. El pago es {payment}.',
        'Puede aceptarlo tal cual o devolverlo. Puede haber más; le avisamos como mucho una vez por hora.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Geld ist eingegangen, das keine Bestellung bezahlt',
      lines: [
        '{amount} sind auf Ihrer Wallet eingegangen, bezahlen aber nicht, was verlangt war. Die Zahlung ist {payment}.',
        'Sie können es annehmen oder zurückschicken. Es kann mehr davon geben; Sie hören höchstens einmal in der Stunde davon.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'De l’argent est arrivé sans régler de commande',
      lines: [
        '{amount} ont atteint votre portefeuille sans régler ce qui était demandé. Le paiement est {payment}.',
        'Vous pouvez l’accepter tel quel ou le renvoyer. Il peut y en avoir d’autres ; vous en êtes averti au plus une fois par heure.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Chegou dinheiro que não paga nenhum pedido',
      lines: [
        '{amount} chegaram à sua carteira, mas não pagam o que foi pedido. O pagamento é {payment}.',
        'Você pode aceitar assim mesmo ou devolver. Pode haver outros; avisamos no máximo uma vez por hora.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: '注文と一致しない入金がありました',
      lines: [
        '{amount}がウォレットに届きましたが、請求内容と一致しません。支払い: {payment}',
        'そのまま受け入れるか、返金できます。ほかにもある場合がありますが、お知らせは1時間に1回までです。',
      ],
      button: '対処方法を見る',
    },
  },
};
