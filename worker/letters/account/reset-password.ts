import type { Letter } from '../letter.ts';

export const resetPasswordLetter: Letter<Record<never, never>> = {
  pref: null,
  to: 'anyone',
  token: 'reset',
  path: (_facts, token) => `/reset-password#token=${token}`,
  words: {
    en: {
      subject: 'Set a new password',
      lines: [
        'Somebody asked for a new password for the account with this address. The link works once, for 30 minutes, and ends every session.',
        'If it was not you, do nothing: your password stays as it is.',
      ],
      button: 'Set a new password',
    },
    es: {
      subject: 'Elija una contraseña nueva',
      lines: [
        'Alguien ha pedido una contraseña nueva para la cuenta con esta dirección. El enlace funciona una vez, durante 30 minutos, y cierra todas las sesiones.',
        'Si no ha sido usted, no haga nada: su contraseña no cambia.',
      ],
      button: 'Elegir contraseña nueva',
    },
    de: {
      subject: 'Neues Passwort festlegen',
      lines: [
        'Jemand hat ein neues Passwort für das Konto mit dieser Adresse angefordert. Der Link gilt einmal, 30 Minuten lang, und beendet jede Sitzung.',
        'Wenn Sie das nicht waren, müssen Sie nichts tun: Ihr Passwort bleibt, wie es ist.',
      ],
      button: 'Neues Passwort festlegen',
    },
    fr: {
      subject: 'Choisissez un nouveau mot de passe',
      lines: [
        'Quelqu’un a demandé un nouveau mot de passe pour le compte associé à cette adresse. Le lien fonctionne une fois, pendant 30 minutes, et met fin à toutes les sessions.',
        'Si ce n’était pas vous, ne faites rien : votre mot de passe ne change pas.',
      ],
      button: 'Choisir un nouveau mot de passe',
    },
    'pt-BR': {
      subject: 'Defina uma nova senha',
      lines: [
        'Alguém pediu uma nova senha para a conta com este endereço. O link funciona uma vez, por 30 minutos, e encerra todas as sessões.',
        'Se não foi você, não faça nada: sua senha continua a mesma.',
      ],
      button: 'Definir nova senha',
    },
    ja: {
      subject: '新しいパスワードの設定',
      lines: [
        'このアドレスのアカウントについて、新しいパスワードが求められました。リンクは30分以内に1回だけ使え、使うとすべてのセッションが終了します。',
        'お心当たりがない場合は、何もする必要はありません。パスワードはそのままです。',
      ],
      button: '新しいパスワードを設定する',
    },
  },
};
