import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

/** New payout wallet. No preference switches it off: a thief of the account would. */
export const payoutChangedLetter: Letter<LetterFacts['payout_changed']> = {
  pref: null,
  to: 'anyone',
  path: () => '/docs#not-you',
  values: ({ wallet, previous, paid_for, at }, locale) => ({
    wallet: wallet ?? '—',
    previous: previous ?? '—',
    paidFor: plainName(paid_for),
    at: formatInstant(locale, at, 'UTC'),
  }),
  words: {
    en: {
      subject: 'A payout wallet was set',
      lines: [
        'On {at} a payout wallet was set for: {paidFor}',
        'Sales of it are paid to this wallet from now on: {wallet}',
        'Wallet before: {previous}',
        'If it was not you, set your own wallet now and revoke keys that you did not make. The page says how.',
      ],
      button: 'What to do',
    },
    es: {
      subject: 'Se ha establecido una billetera de cobro',
      lines: [
        'El {at} se estableció una billetera de cobro para: {paidFor}',
        'Desde ahora sus ventas se pagan a esta billetera: {wallet}',
        'Billetera anterior: {previous}',
        'Si no ha sido usted, ponga ahora su propia billetera y revoque las claves que no haya creado. La página explica cómo.',
      ],
      button: 'Qué hacer',
    },
    de: {
      subject: 'Eine Auszahlungs-Wallet wurde festgelegt',
      lines: [
        'Am {at} wurde eine Auszahlungs-Wallet festgelegt für: {paidFor}',
        'Verkäufe davon gehen ab jetzt an diese Wallet: {wallet}',
        'Wallet davor: {previous}',
        'Wenn Sie das nicht waren, hinterlegen Sie jetzt Ihre eigene Wallet und widerrufen Sie fremde Schlüssel. Die Seite sagt, wie.',
      ],
      button: 'Was zu tun ist',
    },
    fr: {
      subject: 'Un portefeuille de versement a été défini',
      lines: [
        'Le {at}, un portefeuille de versement a été défini pour : {paidFor}',
        'Ses ventes sont désormais versées sur ce portefeuille : {wallet}',
        'Portefeuille précédent : {previous}',
        'Si ce n’était pas vous, indiquez tout de suite votre propre portefeuille et révoquez les clés inconnues. La page explique comment.',
      ],
      button: 'Que faire',
    },
    'pt-BR': {
      subject: 'Uma carteira de recebimento foi definida',
      lines: [
        'Em {at} foi definida uma carteira de recebimento para: {paidFor}',
        'A partir de agora, as vendas são pagas nesta carteira: {wallet}',
        'Carteira anterior: {previous}',
        'Se não foi você, defina sua própria carteira agora e revogue as chaves que não criou. A página explica como.',
      ],
      button: 'O que fazer',
    },
    ja: {
      subject: '受取ウォレットが設定されました',
      lines: [
        '{at}に受取ウォレットが設定されました。対象: {paidFor}',
        '今後の売上はこのウォレットに支払われます: {wallet}',
        '以前のウォレット: {previous}',
        'お心当たりがない場合は、今すぐご自身のウォレットを設定し、作成した覚えのないキーを取り消してください。手順はページにあります。',
      ],
      button: '対処方法を見る',
    },
  },
};
