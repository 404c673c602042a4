// NNI's server listens at every address of its machine, and asks nobody who they are: with this, at the loopback address only.
const { Server } = require('net');
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
    return listen.call(this, typeof port === 'number' ? { port, host: '127.0.0.1' } : port, ...rest);
};
