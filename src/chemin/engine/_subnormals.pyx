"""Numbers below 1e-308, whose every product takes a processor a hundred times as long.

A narrow Gaussian is full of them, and so are products of its entries. Beside what residuals are
known to they are nothing: within a walk they are 0.
"""

cdef extern from *:
    """
    #if defined(__SSE2__) || defined(_M_X64)
    #include <xmmintrin.h>
    #define CHEMIN_FLUSH 0x8040u /* results that are subnormal, and operands */
    static unsigned long long chemin_mode(void) { return _mm_getcsr(); }
    static void chemin_set_mode(unsigned long long mode) { _mm_setcsr((unsigned) mode); }
    #elif defined(__aarch64__) && defined(__GNUC__)
    #define CHEMIN_FLUSH (1u << 24)
    static unsigned long long chemin_mode(void)
    {
        unsigned long long mode;
        __asm__ __volatile__("mrs %0, fpcr" : "=r"(mode));
        return mode;
    }
    static void chemin_set_mode(unsigned long long mode)
    {
        __asm__ __volatile__("msr fpcr, %0" : : "r"(mode));
    }
    #else
    #define CHEMIN_FLUSH 0u
    static unsigned long long chemin_mode(void) { return 0; }
    static void chemin_set_mode(unsigned long long mode) { (void) mode; }
    #endif
    """
    const unsigned int CHEMIN_FLUSH
    unsigned long long chemin_mode()
    void chemin_set_mode(unsigned long long mode)


cdef class SubnormalsAreZero:
    """While it is entered, in this thread; afterwards as before."""

    cdef unsigned long long before

    def __enter__(self):
        self.before = chemin_mode()
        chemin_set_mode(self.before | CHEMIN_FLUSH)

    def __exit__(self, *error):
        # Flags of what has happened meanwhile stay; only the mode goes back.
        chemin_set_mode((chemin_mode() & ~<unsigned long long> CHEMIN_FLUSH)
                        | (self.before & CHEMIN_FLUSH))
