; 89036cdf155ec12e9dda3f0701aa18b770e93d84884c2bc449d313edbf0d3f15 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.plan = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.plan_code = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i32, i32 }
%struct.pool = type { i64, i32, i32, i32, i32, i32, i32, ptr, ptr, [0 x i64] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.context = type { ptr, ptr, ptr, ptr, i64, ptr }
%struct.block = type { ptr, ptr }
%struct.loop = type { ptr, ptr, ptr, %struct.group, i32 }
%struct.group = type { ptr, i32 }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.plan_tensor = type { i32, i32, i32, i32, i32, i32, double, i64, [8 x i64] }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.run = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.model_buffer = type { ptr, i64 }
%struct.argument = type { i32, i32, %union.anon }
%union.anon = type { ptr }
%struct.tensor = type { ptr, i32, i32, i32, i8, i8, i16, ptr, ptr, i64 }
%struct.plan_place = type { i32, i32, i8, i8, i16, i32, i64, i64 }
%struct.plan_golden = type { i32, i32, i32, i32, [2 x i64] }

@__TVMBackendAllocWorkspace = hidden local_unnamed_addr constant ptr @allocate, align 8
@__TVMBackendFreeWorkspace = hidden local_unnamed_addr constant ptr @release, align 8
@__TVMBackendParallelLaunch = hidden local_unnamed_addr constant ptr @launch, align 8
@__TVMFFIErrorSetRaisedFromCStr = hidden local_unnamed_addr constant ptr @set_error, align 8
@__TVMFFIErrorSetRaisedFromCStrParts = hidden local_unnamed_addr constant ptr @set_error_parts, align 8
@model_plan = external hidden constant %struct.plan, align 4
@.str = private unnamed_addr constant [9 x i8] c"no error\00", align 1
@.str.1 = private unnamed_addr constant [61 x i8] c"an argument, or the data of a tensor that has bytes, is null\00", align 1
@.str.2 = private unnamed_addr constant [61 x i8] c"an input or output has fewer bytes than its description says\00", align 1
@.str.3 = private unnamed_addr constant [78 x i8] c"data does not begin at a multiple of the alignment that its description names\00", align 1
@.str.4 = private unnamed_addr constant [87 x i8] c"a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says\00", align 1
@.str.5 = private unnamed_addr constant [82 x i8] c"a dynamic dimension has a size that the model does not take, or sizes are missing\00", align 1
@.str.6 = private unnamed_addr constant [54 x i8] c"there is no input, output or dimension of this number\00", align 1
@.str.7 = private unnamed_addr constant [82 x i8] c"this processor lacks instructions that the code needs; export it for an older one\00", align 1
@.str.8 = private unnamed_addr constant [44 x i8] c"the function init was not called, or failed\00", align 1
@.str.9 = private unnamed_addr constant [86 x i8] c"the number of threads is 0, above 1 without a launch function, or above 256 of a pool\00", align 1
@.str.10 = private unnamed_addr constant [31 x i8] c"a computation refused its data\00", align 1
@.str.11 = private unnamed_addr constant [70 x i8] c"the library has no code of this name; its description lists the names\00", align 1
@.str.12 = private unnamed_addr constant [81 x i8] c"the program has no function pthread_create, or the system starts no more threads\00", align 1
@.str.13 = private unnamed_addr constant [85 x i8] c"a layer gives another result than the definition: report the processor and the layer\00", align 1
@.str.14 = private unnamed_addr constant [73 x i8] c"the library was made without values for a self-test; export it with them\00", align 1
@.str.15 = private unnamed_addr constant [41 x i8] c"a status that this library does not give\00", align 1
@chosen = internal unnamed_addr global i32 0, align 4
@current = internal thread_local global ptr null, align 8
@.str.16 = private unnamed_addr constant [8 x i8] c"float32\00", align 1
@.str.17 = private unnamed_addr constant [5 x i8] c"bool\00", align 1
@reltable.model_status_text = private unnamed_addr constant [15 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.14 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.13 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.12 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.11 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.10 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.9 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.8 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.7 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.6 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.5 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.4 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.3 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.2 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.1 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32)], align 4

; Function Attrs: nounwind
define i32 @model_init() local_unnamed_addr #0 {
  %1 = tail call fastcc i32 @choose_code(ptr noundef null) #14
  ret i32 %1
}

; Function Attrs: nounwind
define internal fastcc i32 @choose_code(ptr noundef readonly %0) unnamed_addr #0 {
  %2 = alloca [4 x i32], align 16
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = icmp eq ptr %0, null
  %7 = load i32, ptr @model_plan, align 4
  %8 = icmp eq i32 %7, 1
  br i1 %8, label %9, label %108

9:                                                ; preds = %1
  %10 = select i1 %6, i32 -7, i32 -11
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %108, label %13

13:                                               ; preds = %9
  %14 = getelementptr inbounds i32, ptr %2, i64 3
  %15 = getelementptr inbounds i32, ptr %2, i64 2
  %16 = getelementptr inbounds i32, ptr %2, i64 1
  %17 = zext i32 %11 to i64
  br label %18

18:                                               ; preds = %13, %104
  %19 = phi i64 [ 0, %13 ], [ %106, %104 ]
  %20 = phi i32 [ %10, %13 ], [ %105, %104 ]
  br i1 %6, label %44, label %21

21:                                               ; preds = %18
  %22 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19
  %23 = load i32, ptr %22, align 8
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr @model_plan, i64 %24
  %26 = load i8, ptr %0, align 1
  %27 = icmp eq i8 %26, 0
  br i1 %27, label %39, label %28

28:                                               ; preds = %21, %34
  %29 = phi i8 [ %37, %34 ], [ %26, %21 ]
  %30 = phi ptr [ %36, %34 ], [ %25, %21 ]
  %31 = phi ptr [ %35, %34 ], [ %0, %21 ]
  %32 = load i8, ptr %30, align 1
  %33 = icmp eq i8 %29, %32
  br i1 %33, label %34, label %39

34:                                               ; preds = %28
  %35 = getelementptr inbounds i8, ptr %31, i64 1
  %36 = getelementptr inbounds i8, ptr %30, i64 1
  %37 = load i8, ptr %35, align 1
  %38 = icmp eq i8 %37, 0
  br i1 %38, label %39, label %28, !llvm.loop !2

39:                                               ; preds = %28, %34, %21
  %40 = phi ptr [ %25, %21 ], [ %30, %28 ], [ %36, %34 ]
  %41 = phi i8 [ 0, %21 ], [ %29, %28 ], [ 0, %34 ]
  %42 = load i8, ptr %40, align 1
  %43 = icmp eq i8 %41, %42
  br i1 %43, label %44, label %104

44:                                               ; preds = %39, %18
  %45 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19, i32 1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds i8, ptr @model_plan, i64 %47
  %49 = load i32, ptr %48, align 4
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds i32, ptr %48, i64 %50
  %52 = getelementptr inbounds i32, ptr %48, i64 1
  %53 = load i32, ptr %52, align 4
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %67, label %55

55:                                               ; preds = %44
  %56 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 1, i32 0) #15, !srcloc !4
  %57 = extractvalue { i32, i32, i32, i32 } %56, 2
  %58 = and i32 %57, 134217728
  %59 = icmp eq i32 %58, 0
  br i1 %59, label %63, label %60

60:                                               ; preds = %55
  %61 = tail call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0) #15, !srcloc !5
  %62 = extractvalue { i32, i32 } %61, 0
  br label %63

63:                                               ; preds = %60, %55
  %64 = phi i32 [ %62, %60 ], [ 0, %55 ]
  %65 = and i32 %64, %53
  %66 = icmp eq i32 %65, %53
  br i1 %66, label %67, label %104

67:                                               ; preds = %63, %44
  %68 = icmp ult i32 %49, 3
  br i1 %68, label %101, label %69

69:                                               ; preds = %67
  %70 = getelementptr inbounds i32, ptr %48, i64 2
  br label %71

71:                                               ; preds = %91, %69
  %72 = phi ptr [ %70, %69 ], [ %97, %91 ]
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #15
  %73 = load i32, ptr %72, align 4
  %74 = and i32 %73, -2147483648
  %75 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %74, i32 0) #15, !srcloc !4
  %76 = extractvalue { i32, i32, i32, i32 } %75, 0
  %77 = icmp ult i32 %76, %73
  br i1 %77, label %91, label %78

78:                                               ; preds = %71
  %79 = getelementptr inbounds i32, ptr %72, i64 1
  %80 = load i32, ptr %79, align 4
  %81 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %73, i32 %80) #15, !srcloc !4
  %82 = extractvalue { i32, i32, i32, i32 } %81, 0
  %83 = extractvalue { i32, i32, i32, i32 } %81, 1
  %84 = extractvalue { i32, i32, i32, i32 } %81, 2
  %85 = extractvalue { i32, i32, i32, i32 } %81, 3
  store i32 %82, ptr %2, align 16
  store i32 %83, ptr %16, align 4
  store i32 %84, ptr %15, align 8
  store i32 %85, ptr %14, align 4
  %86 = getelementptr inbounds i32, ptr %72, i64 2
  %87 = load i32, ptr %86, align 4
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds [4 x i32], ptr %2, i64 0, i64 %88
  %90 = load i32, ptr %89, align 4
  br label %91

91:                                               ; preds = %78, %71
  %92 = phi i32 [ %90, %78 ], [ 0, %71 ]
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #15
  %93 = getelementptr inbounds i32, ptr %72, i64 3
  %94 = load i32, ptr %93, align 4
  %95 = and i32 %94, %92
  %96 = icmp eq i32 %95, %94
  %97 = getelementptr inbounds i32, ptr %72, i64 4
  %98 = icmp ult ptr %97, %51
  %99 = select i1 %96, i1 %98, i1 false
  br i1 %99, label %71, label %100, !llvm.loop !6

100:                                              ; preds = %91
  br i1 %96, label %101, label %104

101:                                              ; preds = %67, %100
  %102 = trunc i64 %19 to i32
  %103 = add i32 %102, 1
  store atomic i32 %103, ptr @chosen release, align 4
  br label %108

104:                                              ; preds = %63, %100, %39
  %105 = phi i32 [ %20, %39 ], [ -7, %100 ], [ -7, %63 ]
  %106 = add nuw nsw i64 %19, 1
  %107 = icmp eq i64 %106, %17
  br i1 %107, label %108, label %18, !llvm.loop !7

108:                                              ; preds = %104, %9, %101, %1
  %109 = phi i32 [ -7, %1 ], [ 0, %101 ], [ %10, %9 ], [ %105, %104 ]
  ret i32 %109
}

; Function Attrs: nounwind
define i32 @model_select_code(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %5, label %3

3:                                                ; preds = %1
  %4 = tail call fastcc i32 @choose_code(ptr noundef nonnull %0) #14
  br label %5

5:                                                ; preds = %1, %3
  %6 = phi i32 [ %4, %3 ], [ -1, %1 ]
  ret i32 %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @model_pool_bytes(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, -257
  %3 = icmp ult i32 %2, -256
  %4 = zext i32 %0 to i64
  %5 = shl nuw nsw i64 %4, 3
  %6 = add nuw nsw i64 %5, 103
  %7 = and i64 %6, 65472
  %8 = select i1 %3, i64 -9, i64 %7
  ret i64 %8
}

; Function Attrs: nounwind
define i32 @model_pool_start(ptr %0, i64 %1, i32 noundef %2, ptr noundef writeonly %3) local_unnamed_addr #0 {
  %5 = alloca i64, align 8
  %6 = alloca i64, align 8
  %7 = add i32 %2, -257
  %8 = icmp ult i32 %7, -256
  %9 = zext i32 %2 to i64
  %10 = shl nuw nsw i64 %9, 3
  %11 = add nuw nsw i64 %10, 103
  %12 = and i64 %11, 65472
  %13 = select i1 %8, i64 -9, i64 %12
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #15
  store i64 -15032385537, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #15
  %14 = icmp ne ptr %0, null
  %15 = icmp ne ptr %3, null
  %16 = and i1 %14, %15
  br i1 %16, label %17, label %85

17:                                               ; preds = %4
  br i1 %8, label %18, label %20

18:                                               ; preds = %17
  %19 = trunc i64 %13 to i32
  br label %85

20:                                               ; preds = %17
  %21 = ptrtoint ptr %0 to i64
  %22 = and i64 %21, 63
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %85

24:                                               ; preds = %20
  %25 = icmp ugt i64 %13, %1
  br i1 %25, label %85, label %26

26:                                               ; preds = %24
  %27 = icmp ugt i32 %2, 1
  br i1 %27, label %28, label %35

28:                                               ; preds = %26
  %29 = tail call { ptr, ptr } asm "", "=r,=r,0,1,~{dirflag},~{fpsr},~{flags}"(ptr @pthread_create, ptr @pthread_join) #16, !srcloc !8
  %30 = extractvalue { ptr, ptr } %29, 0
  %31 = extractvalue { ptr, ptr } %29, 1
  %32 = icmp eq ptr %30, null
  %33 = icmp eq ptr %31, null
  %34 = select i1 %32, i1 true, i1 %33
  br i1 %34, label %85, label %35

35:                                               ; preds = %28, %26
  %36 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %37 = trunc i64 %36 to i32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(28) %0, i8 0, i64 28, i1 false)
  %38 = getelementptr inbounds i8, ptr %0, i64 28
  store i32 %37, ptr %38, align 4
  %39 = getelementptr inbounds i8, ptr %0, i64 32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %39, i8 0, i64 16, i1 false)
  %40 = ptrtoint ptr %5 to i64
  %41 = ptrtoint ptr %6 to i64
  %42 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %40, i64 %41, i64 8, i64 14) #15, !srcloc !9
  %43 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 5
  %44 = add nsw i32 %2, -1
  %45 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9
  %46 = load i32, ptr %43, align 8
  %47 = icmp ult i32 %46, %44
  br i1 %47, label %48, label %81

48:                                               ; preds = %35, %54
  %49 = phi i32 [ %56, %54 ], [ %46, %35 ]
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds i64, ptr %45, i64 %50
  %52 = call i32 @pthread_create(ptr noundef nonnull %51, ptr noundef null, ptr noundef nonnull @serve, ptr noundef nonnull %0) #17
  %53 = icmp eq i32 %52, 0
  br i1 %53, label %54, label %58

54:                                               ; preds = %48
  %55 = load i32, ptr %43, align 8
  %56 = add i32 %55, 1
  store i32 %56, ptr %43, align 8
  %57 = icmp ult i32 %56, %44
  br i1 %57, label %48, label %81

58:                                               ; preds = %48
  %59 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %41, i64 0, i64 8, i64 14) #15, !srcloc !9
  %60 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %60 release, align 4
  %61 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %62 = atomicrmw add ptr %61, i32 1 release, align 4
  %63 = ptrtoint ptr %61 to i64
  %64 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %63, i64 129, i64 256, i64 0, i64 202) #15, !srcloc !9
  %65 = load i32, ptr %38, align 4
  %66 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %67 = trunc i64 %66 to i32
  %68 = icmp eq i32 %65, %67
  br i1 %68, label %69, label %85

69:                                               ; preds = %58
  %70 = load i32, ptr %43, align 8
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %85, label %72

72:                                               ; preds = %69, %72
  %73 = phi i64 [ %77, %72 ], [ 0, %69 ]
  %74 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = call i32 @pthread_join(i64 noundef %75, ptr noundef null) #17
  %77 = add nuw nsw i64 %73, 1
  %78 = load i32, ptr %43, align 8
  %79 = zext i32 %78 to i64
  %80 = icmp ult i64 %77, %79
  br i1 %80, label %72, label %85, !llvm.loop !10

81:                                               ; preds = %54, %35
  %82 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %41, i64 0, i64 8, i64 14) #15, !srcloc !9
  store i32 %2, ptr %3, align 8
  %83 = getelementptr inbounds i8, ptr %3, i64 8
  store ptr @launch_in_pool, ptr %83, align 8
  %84 = getelementptr inbounds i8, ptr %3, i64 16
  store ptr %0, ptr %84, align 8
  br label %85

85:                                               ; preds = %72, %69, %58, %28, %24, %20, %4, %81, %18
  %86 = phi i32 [ %19, %18 ], [ 0, %81 ], [ -1, %4 ], [ -3, %20 ], [ -4, %24 ], [ -12, %28 ], [ -12, %58 ], [ -12, %69 ], [ -12, %72 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #15
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #15
  ret i32 %86
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

declare extern_weak i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) #5

; Function Attrs: nounwind
define internal ptr @serve(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  %3 = load atomic i32, ptr %2 acquire, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %63

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %7 = ptrtoint ptr %6 to i64
  %8 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  %9 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  %10 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  %11 = ptrtoint ptr %10 to i64
  br label %12

12:                                               ; preds = %5, %60
  %13 = phi i32 [ 0, %5 ], [ %31, %60 ]
  br label %19

14:                                               ; preds = %23
  %15 = load atomic i32, ptr %6 acquire, align 4
  %16 = icmp eq i32 %15, %13
  br i1 %16, label %17, label %30

17:                                               ; preds = %14
  %18 = zext i32 %13 to i64
  br label %26

19:                                               ; preds = %23, %12
  %20 = phi i32 [ 0, %12 ], [ %24, %23 ]
  %21 = load atomic i32, ptr %6 acquire, align 4
  %22 = icmp eq i32 %21, %13
  br i1 %22, label %23, label %30

23:                                               ; preds = %19
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #15, !srcloc !11
  %24 = add nuw nsw i32 %20, 1
  %25 = icmp eq i32 %24, 1000
  br i1 %25, label %14, label %19, !llvm.loop !12

26:                                               ; preds = %26, %17
  %27 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %7, i64 128, i64 %18, i64 0, i64 202) #15, !srcloc !9
  %28 = load atomic i32, ptr %6 acquire, align 4
  %29 = icmp eq i32 %28, %13
  br i1 %29, label %26, label %30, !llvm.loop !13

30:                                               ; preds = %19, %26, %14
  %31 = phi i32 [ %15, %14 ], [ %28, %26 ], [ %21, %19 ]
  %32 = load atomic i64, ptr %0 acquire, align 8
  %33 = and i64 %32, 65535
  %34 = lshr i64 %32, 16
  %35 = and i64 %34, 65535
  %36 = icmp ult i64 %33, %35
  br i1 %36, label %37, label %60

37:                                               ; preds = %30, %54
  %38 = phi i64 [ %55, %54 ], [ %32, %30 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %8, align 8
  %45 = load ptr, ptr %9, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %10, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %11, i64 129, i64 1, i64 0, i64 202) #15, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %30
  %61 = load atomic i32, ptr %2 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %12, label %63, !llvm.loop !15

63:                                               ; preds = %60, %1
  ret ptr null
}

; Function Attrs: nounwind
define internal void @launch_in_pool(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 3
  %6 = atomicrmw xchg ptr %5, i32 1 acquire, align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %14, label %8

8:                                                ; preds = %4
  %9 = icmp eq i32 %3, 0
  br i1 %9, label %87, label %10

10:                                               ; preds = %8, %10
  %11 = phi i32 [ %12, %10 ], [ 0, %8 ]
  tail call void %1(ptr noundef %2, i32 noundef %11) #17
  %12 = add nuw i32 %11, 1
  %13 = icmp eq i32 %12, %3
  br i1 %13, label %87, label %10, !llvm.loop !16

14:                                               ; preds = %4
  %15 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  store ptr %1, ptr %15, align 8
  %16 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  store ptr %2, ptr %16, align 8
  %17 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  store atomic i32 %3, ptr %17 monotonic, align 4
  %18 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 1
  %21 = zext i32 %20 to i64
  %22 = shl nuw i64 %21, 32
  %23 = zext i32 %3 to i64
  %24 = shl nuw nsw i64 %23, 16
  %25 = or i64 %22, %24
  store atomic i64 %25, ptr %0 release, align 8
  store atomic i32 %20, ptr %18 release, align 8
  %26 = add i32 %3, -1
  %27 = ptrtoint ptr %18 to i64
  %28 = zext i32 %26 to i64
  %29 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %27, i64 129, i64 %28, i64 0, i64 202) #15, !srcloc !9
  %30 = load atomic i64, ptr %0 acquire, align 8
  %31 = and i64 %30, 65535
  %32 = lshr i64 %30, 16
  %33 = and i64 %32, 65535
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %35, label %60

35:                                               ; preds = %14
  %36 = ptrtoint ptr %17 to i64
  br label %37

37:                                               ; preds = %54, %35
  %38 = phi i64 [ %30, %35 ], [ %55, %54 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %15, align 8
  %45 = load ptr, ptr %16, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #17
  %48 = atomicrmw sub ptr %17, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %36, i64 129, i64 1, i64 0, i64 202) #15, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %14
  %61 = load atomic i32, ptr %17 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63

63:                                               ; preds = %60
  %64 = ptrtoint ptr %17 to i64
  br label %65

65:                                               ; preds = %63, %83
  %66 = phi i32 [ %61, %63 ], [ %84, %83 ]
  br label %72

67:                                               ; preds = %76
  %68 = load atomic i32, ptr %17 acquire, align 4
  %69 = icmp eq i32 %68, %66
  br i1 %69, label %70, label %83

70:                                               ; preds = %67
  %71 = zext i32 %66 to i64
  br label %79

72:                                               ; preds = %65, %76
  %73 = phi i32 [ %77, %76 ], [ 0, %65 ]
  %74 = load atomic i32, ptr %17 acquire, align 4
  %75 = icmp eq i32 %74, %66
  br i1 %75, label %76, label %83

76:                                               ; preds = %72
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #15, !srcloc !11
  %77 = add nuw nsw i32 %73, 1
  %78 = icmp eq i32 %77, 1000
  br i1 %78, label %67, label %72, !llvm.loop !12

79:                                               ; preds = %79, %70
  %80 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %64, i64 128, i64 %71, i64 0, i64 202) #15, !srcloc !9
  %81 = load atomic i32, ptr %17 acquire, align 4
  %82 = icmp eq i32 %81, %66
  br i1 %82, label %79, label %83, !llvm.loop !13

83:                                               ; preds = %72, %79, %67
  %84 = phi i32 [ %68, %67 ], [ %81, %79 ], [ %74, %72 ]
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %65, !llvm.loop !17

86:                                               ; preds = %83, %60
  store atomic i32 0, ptr %5 release, align 8
  br label %87

87:                                               ; preds = %10, %8, %86
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: nounwind
define i32 @model_pool_stop(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %37, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 2
  %5 = load ptr, ptr %4, align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %37, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, @launch_in_pool
  br i1 %10, label %11, label %37

11:                                               ; preds = %7
  %12 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 4
  store atomic i32 1, ptr %12 release, align 4
  %13 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 1
  %14 = atomicrmw add ptr %13, i32 1 release, align 4
  %15 = ptrtoint ptr %13 to i64
  %16 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %15, i64 129, i64 256, i64 0, i64 202) #15, !srcloc !9
  %17 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 6
  %18 = load i32, ptr %17, align 4
  %19 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #15, !srcloc !9
  %20 = trunc i64 %19 to i32
  %21 = icmp eq i32 %18, %20
  br i1 %21, label %22, label %35

22:                                               ; preds = %11
  %23 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 5
  %24 = load i32, ptr %23, align 8
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %26

26:                                               ; preds = %22, %26
  %27 = phi i64 [ %31, %26 ], [ 0, %22 ]
  %28 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 9, i64 %27
  %29 = load i64, ptr %28, align 8
  %30 = tail call i32 @pthread_join(i64 noundef %29, ptr noundef null) #17
  %31 = add nuw nsw i64 %27, 1
  %32 = load i32, ptr %23, align 8
  %33 = zext i32 %32 to i64
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %26, label %35, !llvm.loop !10

35:                                               ; preds = %26, %11, %22
  store i32 1, ptr %0, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 4
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(20) %36, i8 0, i64 20, i1 false)
  br label %37

37:                                               ; preds = %7, %1, %3, %35
  %38 = phi i32 [ 0, %35 ], [ -1, %3 ], [ -1, %1 ], [ -9, %7 ]
  ret i32 %38
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal ptr @allocate(i32 %0, i32 %1, i64 noundef %2, i32 %3, i32 %4) #6 {
  %6 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %7, null
  br i1 %8, label %29, label %9

9:                                                ; preds = %5
  %10 = getelementptr inbounds %struct.context, ptr %7, i64 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %7, align 8
  %13 = ptrtoint ptr %11 to i64
  %14 = ptrtoint ptr %12 to i64
  %15 = sub i64 %13, %14
  %16 = icmp ult i64 %15, %2
  %17 = sub nsw i64 %15, %2
  %18 = icmp slt i64 %17, 128
  %19 = select i1 %16, i1 true, i1 %18
  br i1 %19, label %29, label %20

20:                                               ; preds = %9
  %21 = getelementptr inbounds i8, ptr %12, i64 64
  %22 = getelementptr inbounds i8, ptr %12, i64 48
  store ptr %21, ptr %22, align 8
  %23 = load ptr, ptr %7, align 8
  %24 = getelementptr inbounds i8, ptr %12, i64 56
  store ptr %23, ptr %24, align 8
  %25 = add nsw i64 %2, 63
  %26 = sdiv i64 %25, 64
  %27 = shl nsw i64 %26, 6
  %28 = getelementptr inbounds i8, ptr %21, i64 %27
  store ptr %28, ptr %7, align 8
  br label %29

29:                                               ; preds = %5, %9, %20
  %30 = phi ptr [ %21, %20 ], [ null, %9 ], [ null, %5 ]
  ret ptr %30
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal i32 @release(i32 %0, i32 %1, ptr noundef readonly %2) #6 {
  %4 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %5 = load ptr, ptr %4, align 8
  %6 = icmp ne ptr %5, null
  %7 = icmp ne ptr %2, null
  %8 = and i1 %7, %6
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = getelementptr %struct.block, ptr %2, i64 -1, i32 1
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %5, align 8
  br label %12

12:                                               ; preds = %9, %3
  ret i32 0
}

; Function Attrs: nounwind
define internal i32 @launch(ptr noundef %0, ptr noundef %1, i32 noundef %2) #0 {
  %4 = alloca %struct.loop, align 8
  %5 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %18, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %18, label %12

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %18, label %16

16:                                               ; preds = %12
  %17 = load i32, ptr %14, align 8
  br label %18

18:                                               ; preds = %3, %8, %12, %16
  %19 = phi i32 [ %17, %16 ], [ 1, %12 ], [ 1, %8 ], [ 1, %3 ]
  call void @llvm.lifetime.start.p0(i64 48, ptr nonnull %4) #15
  store ptr %6, ptr %4, align 8
  %20 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 1
  store ptr %0, ptr %20, align 8
  %21 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 2
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3, i32 1
  %24 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 4
  store i32 0, ptr %24, align 8
  %25 = icmp sgt i32 %2, 0
  %26 = icmp ugt i32 %19, %2
  %27 = select i1 %25, i1 %26, i1 false
  %28 = select i1 %27, i32 %2, i32 %19
  store i32 %28, ptr %23, align 8
  br i1 %7, label %64, label %29

29:                                               ; preds = %18
  %30 = icmp eq i32 %28, 1
  br i1 %30, label %31, label %53

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %35, label %37

35:                                               ; preds = %31
  %36 = call i32 %0(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %1) #17
  br label %64

37:                                               ; preds = %31
  %38 = load ptr, ptr %5, align 8
  %39 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 3
  %40 = load ptr, ptr %39, align 8
  store ptr %33, ptr %40, align 8
  %41 = load ptr, ptr %4, align 8
  %42 = getelementptr inbounds %struct.context, ptr %41, i64 0, i32 4
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %33, i64 %43
  %45 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 1
  store ptr %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 2
  store ptr null, ptr %46, align 8
  store ptr %40, ptr %5, align 8
  %47 = load ptr, ptr %20, align 8
  %48 = load ptr, ptr %21, align 8
  %49 = call i32 %47(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %48) #17
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %52, label %51

51:                                               ; preds = %37
  store atomic i32 1, ptr %24 monotonic, align 8
  br label %52

52:                                               ; preds = %37, %51
  store ptr %38, ptr %5, align 8
  br label %60

53:                                               ; preds = %29
  %54 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 1
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 2
  %59 = load ptr, ptr %58, align 8
  call void %57(ptr noundef %59, ptr noundef nonnull @run_task, ptr noundef nonnull %4, i32 noundef %28) #17
  br label %60

60:                                               ; preds = %53, %52
  %61 = load i32, ptr %24, align 8
  %62 = icmp ne i32 %61, 0
  %63 = sext i1 %62 to i32
  br label %64

64:                                               ; preds = %18, %60, %35
  %65 = phi i32 [ %63, %60 ], [ %36, %35 ], [ -1, %18 ]
  call void @llvm.lifetime.end.p0(i64 48, ptr nonnull %4) #15
  ret i32 %65
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error(ptr nocapture %0, ptr nocapture %1) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error_parts(ptr nocapture %0, ptr nocapture %1, i32 %2) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none)
define i32 @model_describe(ptr noundef writeonly %0) local_unnamed_addr #7 {
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %2, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = icmp eq ptr %0, null
  br i1 %9, label %39, label %10

10:                                               ; preds = %1
  %11 = icmp eq i32 %2, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 8), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  store ptr %14, ptr %0, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 9), align 4
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr @model_plan, i64 %16
  %18 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 1
  store ptr %17, ptr %18, align 8
  %19 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 10), align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds i8, ptr @model_plan, i64 %20
  %22 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 2
  store ptr %21, ptr %22, align 8
  br i1 %11, label %27, label %23

23:                                               ; preds = %10
  %24 = load i32, ptr %8, align 8
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  br label %27

27:                                               ; preds = %10, %23
  %28 = phi ptr [ %26, %23 ], [ null, %10 ]
  %29 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 11), align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 4
  store ptr %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 5
  store i32 1, ptr %34, align 8
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 6
  store i32 %35, ptr %36, align 4
  %37 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 7
  %38 = load <2 x i32>, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  store <2 x i32> %38, ptr %37, align 8
  br label %39

39:                                               ; preds = %1, %27
  %40 = phi i32 [ 0, %27 ], [ -1, %1 ]
  ret i32 %40
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_input(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %124

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %124, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %115, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = and i64 %57, 7
  %59 = icmp ult i32 %23, 8
  br i1 %59, label %100, label %60

60:                                               ; preds = %56
  %61 = and i64 %57, 4294967288
  br label %62

62:                                               ; preds = %62, %60
  %63 = phi i64 [ 0, %60 ], [ %97, %62 ]
  %64 = phi i64 [ %54, %60 ], [ %96, %62 ]
  %65 = phi i64 [ 0, %60 ], [ %98, %62 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %63
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = or i64 %63, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = or i64 %63, 2
  %74 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = or i64 %63, 3
  %78 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = or i64 %63, 4
  %82 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = or i64 %63, 5
  %86 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = or i64 %63, 6
  %90 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %89
  %91 = load i64, ptr %90, align 8
  %92 = mul nsw i64 %91, %88
  %93 = or i64 %63, 7
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = mul nsw i64 %95, %92
  %97 = add nuw nsw i64 %63, 8
  %98 = add i64 %65, 8
  %99 = icmp eq i64 %98, %61
  br i1 %99, label %100, label %62, !llvm.loop !18

100:                                              ; preds = %62, %56
  %101 = phi i64 [ undef, %56 ], [ %96, %62 ]
  %102 = phi i64 [ 0, %56 ], [ %97, %62 ]
  %103 = phi i64 [ %54, %56 ], [ %96, %62 ]
  %104 = icmp eq i64 %58, 0
  br i1 %104, label %115, label %105

105:                                              ; preds = %100, %105
  %106 = phi i64 [ %112, %105 ], [ %102, %100 ]
  %107 = phi i64 [ %111, %105 ], [ %103, %100 ]
  %108 = phi i64 [ %113, %105 ], [ 0, %100 ]
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %106
  %110 = load i64, ptr %109, align 8
  %111 = mul nsw i64 %110, %107
  %112 = add nuw nsw i64 %106, 1
  %113 = add i64 %108, 1
  %114 = icmp eq i64 %113, %58
  br i1 %114, label %115, label %105, !llvm.loop !19

115:                                              ; preds = %100, %105, %13
  %116 = phi i64 [ %54, %13 ], [ %101, %100 ], [ %111, %105 ]
  %117 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %116, ptr %117, align 8
  %118 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %119 = load double, ptr %118, align 8
  %120 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %119, ptr %120, align 8
  %121 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %122, ptr %123, align 8
  br label %124

124:                                              ; preds = %115, %6, %3
  %125 = phi i32 [ -6, %3 ], [ 0, %115 ], [ -1, %6 ]
  ret i32 %125
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: write)
define i32 @model_output(i32 noundef %0, ptr nocapture noundef readnone %1, ptr noundef writeonly %2) local_unnamed_addr #8 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %124

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = icmp eq ptr %2, null
  br i1 %12, label %124, label %13

13:                                               ; preds = %6
  %14 = load i32, ptr %11, align 8
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  store ptr %16, ptr %2, align 8
  %17 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  %20 = getelementptr inbounds i8, ptr @model_plan, i64 %19
  %21 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %20, ptr %21, align 8
  %22 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 2
  %23 = load i32, ptr %22, align 8
  %24 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %23, ptr %24, align 8
  %25 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 3
  %26 = load i32, ptr %25, align 4
  %27 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %26, ptr %27, align 4
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 0
  %29 = load i64, ptr %28, align 8
  %30 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 1
  %32 = load i64, ptr %31, align 8
  %33 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 2
  %35 = load i64, ptr %34, align 8
  %36 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %35, ptr %36, align 8
  %37 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 3
  %38 = load i64, ptr %37, align 8
  %39 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %38, ptr %39, align 8
  %40 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 4
  %41 = load i64, ptr %40, align 8
  %42 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %41, ptr %42, align 8
  %43 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 5
  %44 = load i64, ptr %43, align 8
  %45 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 6
  %47 = load i64, ptr %46, align 8
  %48 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %47, ptr %48, align 8
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 7
  %50 = load i64, ptr %49, align 8
  %51 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %50, ptr %51, align 8
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 4
  %53 = load i32, ptr %52, align 8
  %54 = zext i32 %53 to i64
  %55 = icmp eq i32 %23, 0
  br i1 %55, label %115, label %56

56:                                               ; preds = %13
  %57 = zext i32 %23 to i64
  %58 = and i64 %57, 7
  %59 = icmp ult i32 %23, 8
  br i1 %59, label %100, label %60

60:                                               ; preds = %56
  %61 = and i64 %57, 4294967288
  br label %62

62:                                               ; preds = %62, %60
  %63 = phi i64 [ 0, %60 ], [ %97, %62 ]
  %64 = phi i64 [ %54, %60 ], [ %96, %62 ]
  %65 = phi i64 [ 0, %60 ], [ %98, %62 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %63
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = or i64 %63, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = or i64 %63, 2
  %74 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = or i64 %63, 3
  %78 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = or i64 %63, 4
  %82 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %81
  %83 = load i64, ptr %82, align 8
  %84 = mul nsw i64 %83, %80
  %85 = or i64 %63, 5
  %86 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %85
  %87 = load i64, ptr %86, align 8
  %88 = mul nsw i64 %87, %84
  %89 = or i64 %63, 6
  %90 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %89
  %91 = load i64, ptr %90, align 8
  %92 = mul nsw i64 %91, %88
  %93 = or i64 %63, 7
  %94 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %93
  %95 = load i64, ptr %94, align 8
  %96 = mul nsw i64 %95, %92
  %97 = add nuw nsw i64 %63, 8
  %98 = add i64 %65, 8
  %99 = icmp eq i64 %98, %61
  br i1 %99, label %100, label %62, !llvm.loop !18

100:                                              ; preds = %62, %56
  %101 = phi i64 [ undef, %56 ], [ %96, %62 ]
  %102 = phi i64 [ 0, %56 ], [ %97, %62 ]
  %103 = phi i64 [ %54, %56 ], [ %96, %62 ]
  %104 = icmp eq i64 %58, 0
  br i1 %104, label %115, label %105

105:                                              ; preds = %100, %105
  %106 = phi i64 [ %112, %105 ], [ %102, %100 ]
  %107 = phi i64 [ %111, %105 ], [ %103, %100 ]
  %108 = phi i64 [ %113, %105 ], [ 0, %100 ]
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 8, i64 %106
  %110 = load i64, ptr %109, align 8
  %111 = mul nsw i64 %110, %107
  %112 = add nuw nsw i64 %106, 1
  %113 = add i64 %108, 1
  %114 = icmp eq i64 %113, %58
  br i1 %114, label %115, label %105, !llvm.loop !21

115:                                              ; preds = %100, %105, %13
  %116 = phi i64 [ %54, %13 ], [ %101, %100 ], [ %111, %105 ]
  %117 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %116, ptr %117, align 8
  %118 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 6
  %119 = load double, ptr %118, align 8
  %120 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %119, ptr %120, align 8
  %121 = getelementptr inbounds %struct.plan_tensor, ptr %11, i64 0, i32 7
  %122 = load i64, ptr %121, align 8
  %123 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %122, ptr %123, align 8
  br label %124

124:                                              ; preds = %115, %6, %3
  %125 = phi i32 [ -6, %3 ], [ 0, %115 ], [ -1, %6 ]
  ret i32 %125
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define nonnull ptr @model_status_text(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, 14
  %3 = icmp ult i32 %2, 15
  br i1 %3, label %4, label %8

4:                                                ; preds = %1
  %5 = sext i32 %2 to i64
  %6 = shl i64 %5, 2
  %7 = call ptr @llvm.load.relative.i64(ptr @reltable.model_status_text, i64 %6)
  br label %8

8:                                                ; preds = %1, %4
  %9 = phi ptr [ %7, %4 ], [ @.str.15, %1 ]
  ret ptr %9
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none)
define i64 @model_workspace_bytes(ptr nocapture noundef readnone %0, i32 noundef %1) local_unnamed_addr #9 {
  %3 = load atomic i32, ptr @chosen acquire, align 4
  %4 = icmp eq i32 %3, 0
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = add i32 %3, -1
  %9 = zext i32 %8 to i64
  %10 = getelementptr inbounds %struct.plan_code, ptr %7, i64 %9
  %11 = select i1 %4, ptr null, ptr %10
  br i1 %4, label %47, label %12

12:                                               ; preds = %2
  %13 = icmp eq i32 %1, 0
  br i1 %13, label %47, label %14

14:                                               ; preds = %12
  %15 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 6
  %16 = load i32, ptr %15, align 8
  %17 = zext i32 %16 to i64
  %18 = mul nuw nsw i64 %17, 48
  %19 = add nuw nsw i64 %18, 63
  %20 = and i64 %19, 549755813824
  %21 = shl nuw nsw i64 %17, 4
  %22 = add nuw nsw i64 %21, 63
  %23 = and i64 %22, 137438953408
  %24 = zext i32 %1 to i64
  %25 = mul nuw nsw i64 %24, 48
  %26 = add nuw nsw i64 %25, 111
  %27 = and i64 %26, 549755813824
  %28 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 8
  %29 = load i64, ptr %28, align 8
  %30 = add nsw i64 %29, 63
  %31 = sdiv i64 %30, 64
  %32 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 9
  %33 = load i64, ptr %32, align 8
  %34 = add nsw i64 %33, 63
  %35 = sdiv i64 %34, 64
  %36 = getelementptr inbounds %struct.plan_code, ptr %11, i64 0, i32 10
  %37 = load i64, ptr %36, align 8
  %38 = add nsw i64 %37, 63
  %39 = sdiv i64 %38, 64
  %40 = mul i64 %39, %24
  %41 = add nsw i64 %35, %31
  %42 = add i64 %41, %40
  %43 = shl i64 %42, 6
  %44 = add nuw nsw i64 %23, %27
  %45 = add nuw nsw i64 %44, %20
  %46 = add i64 %45, %43
  br label %47

47:                                               ; preds = %14, %12, %2
  %48 = phi i64 [ -8, %2 ], [ %46, %14 ], [ -9, %12 ]
  ret i64 %48
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read)
define internal fastcc i64 @workspace_bytes(ptr nocapture noundef readonly %0, i32 noundef %1) unnamed_addr #10 {
  %3 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 6
  %4 = load i32, ptr %3, align 8
  %5 = zext i32 %4 to i64
  %6 = mul nuw nsw i64 %5, 48
  %7 = add nuw nsw i64 %6, 63
  %8 = and i64 %7, 549755813824
  %9 = shl nuw nsw i64 %5, 4
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 137438953408
  %12 = zext i32 %1 to i64
  %13 = mul nuw nsw i64 %12, 48
  %14 = add nuw nsw i64 %13, 111
  %15 = and i64 %14, 549755813824
  %16 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 8
  %17 = load i64, ptr %16, align 8
  %18 = add nsw i64 %17, 63
  %19 = sdiv i64 %18, 64
  %20 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 9
  %21 = load i64, ptr %20, align 8
  %22 = add nsw i64 %21, 63
  %23 = sdiv i64 %22, 64
  %24 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 10
  %25 = load i64, ptr %24, align 8
  %26 = add nsw i64 %25, 63
  %27 = sdiv i64 %26, 64
  %28 = mul i64 %27, %12
  %29 = add nsw i64 %23, %19
  %30 = add i64 %29, %28
  %31 = shl i64 %30, 6
  %32 = add nuw nsw i64 %11, %15
  %33 = add nuw nsw i64 %32, %8
  %34 = add i64 %33, %31
  ret i64 %34
}

; Function Attrs: nounwind
define i32 @model_run(ptr nocapture noundef readnone %0, ptr noundef %1, ptr noundef %2, ptr %3, i64 %4, ptr noundef %5) local_unnamed_addr #0 {
  %7 = alloca %struct.run, align 8
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %7) #15
  %8 = load atomic i32, ptr @chosen acquire, align 4
  %9 = icmp eq i32 %8, 0
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds i8, ptr @model_plan, i64 %11
  %13 = add i32 %8, -1
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds %struct.plan_code, ptr %12, i64 %14
  %16 = select i1 %9, ptr null, ptr %15
  store ptr %16, ptr %7, align 8
  %17 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 2
  store ptr %2, ptr %18, align 8
  %19 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 3
  store ptr null, ptr %19, align 8
  %20 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 4
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 5
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 6
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 7
  store ptr null, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 8
  store ptr null, ptr %24, align 8
  %25 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 9
  store ptr null, ptr %25, align 8
  br i1 %9, label %221, label %26

26:                                               ; preds = %6
  %27 = icmp eq ptr %5, null
  br i1 %27, label %34, label %28

28:                                               ; preds = %26
  %29 = load i32, ptr %5, align 8
  switch i32 %29, label %30 [
    i32 0, label %221
    i32 1, label %34
  ]

30:                                               ; preds = %28
  %31 = getelementptr inbounds %struct.model_threads, ptr %5, i64 0, i32 1
  %32 = load ptr, ptr %31, align 8
  %33 = icmp eq ptr %32, null
  br i1 %33, label %221, label %34

34:                                               ; preds = %28, %30, %26
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %36 = zext i32 %35 to i64
  %37 = getelementptr inbounds i8, ptr @model_plan, i64 %36
  %38 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %39 = icmp eq i32 %38, 0
  %40 = icmp ne ptr %1, null
  %41 = xor i1 %40, true
  %42 = or i1 %39, %41
  br i1 %42, label %117, label %43

43:                                               ; preds = %34
  %44 = zext i32 %38 to i64
  br label %48

45:                                               ; preds = %110
  %46 = add nuw nsw i64 %49, 1
  %47 = icmp eq i64 %46, %44
  br i1 %47, label %119, label %48, !llvm.loop !22

48:                                               ; preds = %45, %43
  %49 = phi i64 [ 0, %43 ], [ %46, %45 ]
  %50 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 4
  %51 = load i32, ptr %50, align 8
  %52 = zext i32 %51 to i64
  %53 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 2
  %54 = load i32, ptr %53, align 8
  %55 = icmp eq i32 %54, 0
  br i1 %55, label %99, label %56

56:                                               ; preds = %48
  %57 = zext i32 %54 to i64
  %58 = and i64 %57, 3
  %59 = icmp ult i32 %54, 4
  br i1 %59, label %84, label %60

60:                                               ; preds = %56
  %61 = and i64 %57, 4294967292
  br label %62

62:                                               ; preds = %62, %60
  %63 = phi i64 [ 0, %60 ], [ %81, %62 ]
  %64 = phi i64 [ %52, %60 ], [ %80, %62 ]
  %65 = phi i64 [ 0, %60 ], [ %82, %62 ]
  %66 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 8, i64 %63
  %67 = load i64, ptr %66, align 8
  %68 = mul nsw i64 %67, %64
  %69 = or i64 %63, 1
  %70 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 8, i64 %69
  %71 = load i64, ptr %70, align 8
  %72 = mul nsw i64 %71, %68
  %73 = or i64 %63, 2
  %74 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 8, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = mul nsw i64 %75, %72
  %77 = or i64 %63, 3
  %78 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 8, i64 %77
  %79 = load i64, ptr %78, align 8
  %80 = mul nsw i64 %79, %76
  %81 = add nuw nsw i64 %63, 4
  %82 = add i64 %65, 4
  %83 = icmp eq i64 %82, %61
  br i1 %83, label %84, label %62, !llvm.loop !18

84:                                               ; preds = %62, %56
  %85 = phi i64 [ undef, %56 ], [ %80, %62 ]
  %86 = phi i64 [ 0, %56 ], [ %81, %62 ]
  %87 = phi i64 [ %52, %56 ], [ %80, %62 ]
  %88 = icmp eq i64 %58, 0
  br i1 %88, label %99, label %89

89:                                               ; preds = %84, %89
  %90 = phi i64 [ %96, %89 ], [ %86, %84 ]
  %91 = phi i64 [ %95, %89 ], [ %87, %84 ]
  %92 = phi i64 [ %97, %89 ], [ 0, %84 ]
  %93 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 8, i64 %90
  %94 = load i64, ptr %93, align 8
  %95 = mul nsw i64 %94, %91
  %96 = add nuw nsw i64 %90, 1
  %97 = add i64 %92, 1
  %98 = icmp eq i64 %97, %58
  br i1 %98, label %99, label %89, !llvm.loop !23

99:                                               ; preds = %84, %89, %48
  %100 = phi i64 [ %52, %48 ], [ %85, %84 ], [ %95, %89 ]
  %101 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %49, i32 1
  %102 = load i64, ptr %101, align 8
  %103 = icmp ult i64 %102, %100
  br i1 %103, label %221, label %104

104:                                              ; preds = %99
  %105 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %49
  %106 = icmp ne i64 %100, 0
  %107 = load ptr, ptr %105, align 8
  %108 = icmp eq ptr %107, null
  %109 = select i1 %106, i1 %108, i1 false
  br i1 %109, label %221, label %110

110:                                              ; preds = %104
  %111 = ptrtoint ptr %107 to i64
  %112 = getelementptr inbounds %struct.plan_tensor, ptr %37, i64 %49, i32 3
  %113 = load i32, ptr %112, align 4
  %114 = zext i32 %113 to i64
  %115 = urem i64 %111, %114
  %116 = icmp eq i64 %115, 0
  br i1 %116, label %45, label %221

117:                                              ; preds = %34
  %118 = or i1 %40, %39
  br i1 %118, label %119, label %221

119:                                              ; preds = %45, %117
  %120 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %121 = zext i32 %120 to i64
  %122 = getelementptr inbounds i8, ptr @model_plan, i64 %121
  %123 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %124 = icmp eq i32 %123, 0
  %125 = icmp ne ptr %2, null
  %126 = xor i1 %125, true
  %127 = or i1 %124, %126
  br i1 %127, label %202, label %128

128:                                              ; preds = %119
  %129 = zext i32 %123 to i64
  br label %133

130:                                              ; preds = %195
  %131 = add nuw nsw i64 %134, 1
  %132 = icmp eq i64 %131, %129
  br i1 %132, label %206, label %133, !llvm.loop !22

133:                                              ; preds = %130, %128
  %134 = phi i64 [ 0, %128 ], [ %131, %130 ]
  %135 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 4
  %136 = load i32, ptr %135, align 8
  %137 = zext i32 %136 to i64
  %138 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 2
  %139 = load i32, ptr %138, align 8
  %140 = icmp eq i32 %139, 0
  br i1 %140, label %184, label %141

141:                                              ; preds = %133
  %142 = zext i32 %139 to i64
  %143 = and i64 %142, 3
  %144 = icmp ult i32 %139, 4
  br i1 %144, label %169, label %145

145:                                              ; preds = %141
  %146 = and i64 %142, 4294967292
  br label %147

147:                                              ; preds = %147, %145
  %148 = phi i64 [ 0, %145 ], [ %166, %147 ]
  %149 = phi i64 [ %137, %145 ], [ %165, %147 ]
  %150 = phi i64 [ 0, %145 ], [ %167, %147 ]
  %151 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 8, i64 %148
  %152 = load i64, ptr %151, align 8
  %153 = mul nsw i64 %152, %149
  %154 = or i64 %148, 1
  %155 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 8, i64 %154
  %156 = load i64, ptr %155, align 8
  %157 = mul nsw i64 %156, %153
  %158 = or i64 %148, 2
  %159 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 8, i64 %158
  %160 = load i64, ptr %159, align 8
  %161 = mul nsw i64 %160, %157
  %162 = or i64 %148, 3
  %163 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 8, i64 %162
  %164 = load i64, ptr %163, align 8
  %165 = mul nsw i64 %164, %161
  %166 = add nuw nsw i64 %148, 4
  %167 = add i64 %150, 4
  %168 = icmp eq i64 %167, %146
  br i1 %168, label %169, label %147, !llvm.loop !18

169:                                              ; preds = %147, %141
  %170 = phi i64 [ undef, %141 ], [ %165, %147 ]
  %171 = phi i64 [ 0, %141 ], [ %166, %147 ]
  %172 = phi i64 [ %137, %141 ], [ %165, %147 ]
  %173 = icmp eq i64 %143, 0
  br i1 %173, label %184, label %174

174:                                              ; preds = %169, %174
  %175 = phi i64 [ %181, %174 ], [ %171, %169 ]
  %176 = phi i64 [ %180, %174 ], [ %172, %169 ]
  %177 = phi i64 [ %182, %174 ], [ 0, %169 ]
  %178 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 8, i64 %175
  %179 = load i64, ptr %178, align 8
  %180 = mul nsw i64 %179, %176
  %181 = add nuw nsw i64 %175, 1
  %182 = add i64 %177, 1
  %183 = icmp eq i64 %182, %143
  br i1 %183, label %184, label %174, !llvm.loop !24

184:                                              ; preds = %169, %174, %133
  %185 = phi i64 [ %137, %133 ], [ %170, %169 ], [ %180, %174 ]
  %186 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %134, i32 1
  %187 = load i64, ptr %186, align 8
  %188 = icmp ult i64 %187, %185
  br i1 %188, label %221, label %189

189:                                              ; preds = %184
  %190 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %134
  %191 = icmp ne i64 %185, 0
  %192 = load ptr, ptr %190, align 8
  %193 = icmp eq ptr %192, null
  %194 = select i1 %191, i1 %193, i1 false
  br i1 %194, label %221, label %195

195:                                              ; preds = %189
  %196 = ptrtoint ptr %192 to i64
  %197 = getelementptr inbounds %struct.plan_tensor, ptr %122, i64 %134, i32 3
  %198 = load i32, ptr %197, align 4
  %199 = zext i32 %198 to i64
  %200 = urem i64 %196, %199
  %201 = icmp eq i64 %200, 0
  br i1 %201, label %130, label %221

202:                                              ; preds = %119
  %203 = or i1 %125, %124
  %204 = icmp ne ptr %3, null
  %205 = select i1 %203, i1 %204, i1 false
  br i1 %205, label %208, label %221

206:                                              ; preds = %130
  %207 = icmp eq ptr %3, null
  br i1 %207, label %221, label %208

208:                                              ; preds = %202, %206
  %209 = ptrtoint ptr %3 to i64
  %210 = and i64 %209, 63
  %211 = icmp eq i64 %210, 0
  br i1 %211, label %212, label %221

212:                                              ; preds = %208
  br i1 %27, label %215, label %213

213:                                              ; preds = %212
  %214 = load i32, ptr %5, align 8
  br label %215

215:                                              ; preds = %212, %213
  %216 = phi i32 [ %214, %213 ], [ 1, %212 ]
  %217 = tail call fastcc i64 @workspace_bytes(ptr noundef %16, i32 noundef %216) #14
  %218 = icmp ugt i64 %217, %4
  br i1 %218, label %221, label %219

219:                                              ; preds = %215
  %220 = call fastcc i32 @run_model(ptr noundef nonnull %7, ptr noundef nonnull %3, ptr noundef %5) #14
  br label %221

221:                                              ; preds = %104, %110, %99, %189, %195, %184, %215, %208, %206, %202, %117, %30, %28, %6, %219
  %222 = phi i32 [ %220, %219 ], [ -8, %6 ], [ -9, %28 ], [ -9, %30 ], [ -1, %117 ], [ -1, %202 ], [ -1, %206 ], [ -3, %208 ], [ -4, %215 ], [ -2, %184 ], [ -3, %195 ], [ -1, %189 ], [ -2, %99 ], [ -3, %110 ], [ -1, %104 ]
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %7) #15
  ret i32 %222
}

; Function Attrs: nounwind
define internal fastcc i32 @run_model(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2) unnamed_addr #0 {
  %4 = alloca %struct.argument, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 6
  %7 = load i32, ptr %6, align 8
  %8 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  store ptr %1, ptr %8, align 8
  %9 = zext i32 %7 to i64
  %10 = mul nuw nsw i64 %9, 48
  %11 = add nuw nsw i64 %10, 63
  %12 = and i64 %11, 549755813824
  %13 = getelementptr inbounds i8, ptr %1, i64 %12
  %14 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  store ptr %13, ptr %14, align 8
  %15 = shl nuw nsw i64 %9, 4
  %16 = add nuw nsw i64 %15, 63
  %17 = and i64 %16, 137438953408
  %18 = getelementptr inbounds i8, ptr %13, i64 %17
  %19 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  store ptr %18, ptr %19, align 8
  %20 = icmp eq ptr %2, null
  br i1 %20, label %27, label %21

21:                                               ; preds = %3
  %22 = load i32, ptr %2, align 8
  %23 = zext i32 %22 to i64
  %24 = mul nuw nsw i64 %23, 48
  %25 = add nuw nsw i64 %24, 111
  %26 = and i64 %25, 549755813824
  br label %27

27:                                               ; preds = %21, %3
  %28 = phi i64 [ %26, %21 ], [ 128, %3 ]
  %29 = getelementptr inbounds i8, ptr %18, i64 %28
  %30 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  store ptr %29, ptr %30, align 8
  %31 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 8
  %32 = load i64, ptr %31, align 8
  %33 = add nsw i64 %32, 63
  %34 = sdiv i64 %33, 64
  %35 = shl nsw i64 %34, 6
  %36 = getelementptr inbounds i8, ptr %29, i64 %35
  %37 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  store ptr %36, ptr %37, align 8
  %38 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 9
  %39 = load i64, ptr %38, align 8
  %40 = add nsw i64 %39, 63
  %41 = sdiv i64 %40, 64
  %42 = shl nsw i64 %41, 6
  %43 = getelementptr inbounds i8, ptr %36, i64 %42
  %44 = getelementptr inbounds %struct.context, ptr %18, i64 1
  %45 = getelementptr inbounds %struct.plan_code, ptr %5, i64 0, i32 10
  %46 = load i64, ptr %45, align 8
  %47 = add nsw i64 %46, 63
  %48 = sdiv i64 %47, 64
  %49 = shl nsw i64 %48, 6
  store ptr %36, ptr %18, align 8
  %50 = getelementptr inbounds i8, ptr %18, i64 8
  store ptr %43, ptr %50, align 8
  %51 = getelementptr inbounds i8, ptr %18, i64 16
  store ptr %43, ptr %51, align 8
  %52 = getelementptr inbounds i8, ptr %18, i64 24
  store ptr %44, ptr %52, align 8
  %53 = getelementptr inbounds i8, ptr %18, i64 32
  store i64 %49, ptr %53, align 8
  %54 = getelementptr inbounds i8, ptr %18, i64 40
  store ptr %2, ptr %54, align 8
  %55 = icmp eq i32 %7, 0
  br i1 %55, label %72, label %56

56:                                               ; preds = %27, %56
  %57 = phi i64 [ %70, %56 ], [ 0, %27 ]
  %58 = load ptr, ptr %8, align 8
  %59 = getelementptr inbounds %struct.tensor, ptr %58, i64 %57
  store ptr null, ptr %59, align 8
  %60 = getelementptr inbounds i8, ptr %59, i64 8
  store i32 1, ptr %60, align 8
  %61 = getelementptr inbounds i8, ptr %59, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %61, i8 0, i64 10, i1 false)
  %62 = getelementptr inbounds i8, ptr %59, i64 22
  store i16 1, ptr %62, align 2
  %63 = getelementptr inbounds i8, ptr %59, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %63, i8 0, i64 24, i1 false)
  %64 = load ptr, ptr %14, align 8
  %65 = getelementptr inbounds %struct.argument, ptr %64, i64 %57
  %66 = load ptr, ptr %8, align 8
  %67 = getelementptr inbounds %struct.tensor, ptr %66, i64 %57
  store i32 7, ptr %65, align 8
  %68 = getelementptr inbounds i8, ptr %65, i64 4
  store i32 0, ptr %68, align 4
  %69 = getelementptr inbounds i8, ptr %65, i64 8
  store ptr %67, ptr %69, align 8
  %70 = add nuw nsw i64 %57, 1
  %71 = icmp eq i64 %70, %9
  br i1 %71, label %72, label %56, !llvm.loop !25

72:                                               ; preds = %56, %27
  %73 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %74 = load ptr, ptr %73, align 8
  %75 = load ptr, ptr %19, align 8
  store ptr %75, ptr %73, align 8
  %76 = load ptr, ptr %0, align 8
  %77 = getelementptr inbounds %struct.plan_code, ptr %76, i64 0, i32 2
  %78 = load i32, ptr %77, align 8
  %79 = zext i32 %78 to i64
  %80 = getelementptr inbounds i8, ptr @model_plan, i64 %79
  %81 = getelementptr inbounds %struct.plan_code, ptr %76, i64 0, i32 3
  %82 = load i32, ptr %81, align 4
  %83 = zext i32 %82 to i64
  %84 = getelementptr inbounds i32, ptr %80, i64 %83
  %85 = icmp eq i32 %82, 0
  br i1 %85, label %354, label %86

86:                                               ; preds = %72
  %87 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %88 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %89 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %90 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  %91 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 9
  br label %92

92:                                               ; preds = %352, %86
  %93 = phi i32 [ 0, %86 ], [ %237, %352 ]
  %94 = phi ptr [ %80, %86 ], [ %236, %352 ]
  %95 = load i32, ptr %94, align 4
  %96 = icmp eq i32 %95, 0
  %97 = getelementptr inbounds i32, ptr %94, i64 1
  %98 = load ptr, ptr %0, align 8
  br i1 %96, label %99, label %178

99:                                               ; preds = %92
  %100 = getelementptr inbounds %struct.plan_code, ptr %98, i64 0, i32 5
  %101 = load i32, ptr %100, align 4
  %102 = zext i32 %101 to i64
  %103 = getelementptr inbounds i8, ptr @model_plan, i64 %102
  %104 = load i32, ptr %97, align 4
  %105 = zext i32 %104 to i64
  %106 = getelementptr inbounds i32, ptr %103, i64 %105
  %107 = getelementptr inbounds %struct.plan_code, ptr %98, i64 0, i32 4
  %108 = load i32, ptr %107, align 8
  %109 = zext i32 %108 to i64
  %110 = getelementptr inbounds i8, ptr @model_plan, i64 %109
  %111 = load i32, ptr %106, align 4
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %4) #15
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %4, i8 0, i64 16, i1 false)
  %112 = getelementptr inbounds i32, ptr %94, i64 2
  %113 = load i32, ptr %112, align 4
  %114 = icmp eq i32 %113, 0
  br i1 %114, label %167, label %115

115:                                              ; preds = %99
  %116 = zext i32 %113 to i64
  br label %117

117:                                              ; preds = %143, %115
  %118 = phi i64 [ 0, %115 ], [ %165, %143 ]
  %119 = add nuw nsw i64 %118, 2
  %120 = and i64 %119, 4294967295
  %121 = getelementptr inbounds i32, ptr %97, i64 %120
  %122 = load i32, ptr %121, align 4
  %123 = zext i32 %122 to i64
  %124 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123
  %125 = load ptr, ptr %8, align 8
  %126 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118
  %127 = load i32, ptr %124, align 8
  switch i32 %127, label %128 [
    i32 0, label %143
    i32 1, label %140
  ]

128:                                              ; preds = %117
  %129 = add i32 %127, -2
  %130 = icmp ult i32 %129, %87
  br i1 %130, label %131, label %135

131:                                              ; preds = %128
  %132 = load ptr, ptr %89, align 8
  %133 = zext i32 %129 to i64
  %134 = getelementptr inbounds %struct.model_buffer, ptr %132, i64 %133
  br label %140

135:                                              ; preds = %128
  %136 = load ptr, ptr %88, align 8
  %137 = sub i32 %129, %87
  %138 = zext i32 %137 to i64
  %139 = getelementptr inbounds %struct.model_buffer, ptr %136, i64 %138
  br label %140

140:                                              ; preds = %135, %131, %117
  %141 = phi ptr [ %139, %135 ], [ %134, %131 ], [ %30, %117 ]
  %142 = load ptr, ptr %141, align 8
  br label %143

143:                                              ; preds = %140, %117
  %144 = phi ptr [ @model_plan, %117 ], [ %142, %140 ]
  %145 = getelementptr inbounds %struct.plan_place, ptr %124, i64 0, i32 6
  %146 = load i64, ptr %145, align 8
  %147 = getelementptr inbounds i8, ptr %144, i64 %146
  store ptr %147, ptr %126, align 8
  %148 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123, i32 1
  %149 = load i32, ptr %148, align 4
  %150 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118, i32 3
  store i32 %149, ptr %150, align 8
  %151 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123, i32 2
  %152 = load i8, ptr %151, align 8
  %153 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118, i32 4
  store i8 %152, ptr %153, align 4
  %154 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123, i32 3
  %155 = load i8, ptr %154, align 1
  %156 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118, i32 5
  store i8 %155, ptr %156, align 1
  %157 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123, i32 4
  %158 = load i16, ptr %157, align 2
  %159 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118, i32 6
  store i16 %158, ptr %159, align 2
  %160 = getelementptr inbounds %struct.plan_place, ptr %110, i64 %123, i32 5
  %161 = load i32, ptr %160, align 4
  %162 = zext i32 %161 to i64
  %163 = getelementptr inbounds i8, ptr @model_plan, i64 %162
  %164 = getelementptr inbounds %struct.tensor, ptr %125, i64 %118, i32 7
  store ptr %163, ptr %164, align 8
  %165 = add nuw nsw i64 %118, 1
  %166 = icmp eq i64 %165, %116
  br i1 %166, label %167, label %117, !llvm.loop !26

167:                                              ; preds = %143, %99
  %168 = sext i32 %111 to i64
  %169 = getelementptr inbounds i8, ptr %106, i64 %168
  %170 = load ptr, ptr %37, align 8
  %171 = load ptr, ptr %19, align 8
  store ptr %170, ptr %171, align 8
  %172 = load ptr, ptr %14, align 8
  %173 = call i32 %169(ptr noundef null, ptr noundef %172, i32 noundef %113, ptr noundef nonnull %4) #17
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %4) #15
  %174 = icmp eq i32 %173, 0
  br i1 %174, label %175, label %354

175:                                              ; preds = %167
  %176 = add i32 %113, 3
  %177 = zext i32 %176 to i64
  br label %234

178:                                              ; preds = %92
  %179 = getelementptr inbounds %struct.plan_code, ptr %98, i64 0, i32 4
  %180 = load i32, ptr %179, align 8
  %181 = zext i32 %180 to i64
  %182 = getelementptr inbounds i8, ptr @model_plan, i64 %181
  %183 = getelementptr inbounds i32, ptr %94, i64 2
  %184 = load i32, ptr %183, align 4
  %185 = zext i32 %184 to i64
  %186 = getelementptr inbounds %struct.plan_place, ptr %182, i64 %185
  %187 = load i32, ptr %186, align 8
  switch i32 %187, label %188 [
    i32 0, label %203
    i32 1, label %200
  ]

188:                                              ; preds = %178
  %189 = add i32 %187, -2
  %190 = icmp ult i32 %189, %87
  br i1 %190, label %191, label %195

191:                                              ; preds = %188
  %192 = load ptr, ptr %89, align 8
  %193 = zext i32 %189 to i64
  %194 = getelementptr inbounds %struct.model_buffer, ptr %192, i64 %193
  br label %200

195:                                              ; preds = %188
  %196 = load ptr, ptr %88, align 8
  %197 = sub i32 %189, %87
  %198 = zext i32 %197 to i64
  %199 = getelementptr inbounds %struct.model_buffer, ptr %196, i64 %198
  br label %200

200:                                              ; preds = %195, %191, %178
  %201 = phi ptr [ %199, %195 ], [ %194, %191 ], [ %30, %178 ]
  %202 = load ptr, ptr %201, align 8
  br label %203

203:                                              ; preds = %200, %178
  %204 = phi ptr [ @model_plan, %178 ], [ %202, %200 ]
  %205 = getelementptr inbounds %struct.plan_place, ptr %186, i64 0, i32 6
  %206 = load i64, ptr %205, align 8
  %207 = load i32, ptr %97, align 4
  %208 = zext i32 %207 to i64
  %209 = getelementptr inbounds %struct.plan_place, ptr %182, i64 %208
  %210 = load i32, ptr %209, align 8
  switch i32 %210, label %211 [
    i32 0, label %226
    i32 1, label %223
  ]

211:                                              ; preds = %203
  %212 = add i32 %210, -2
  %213 = icmp ult i32 %212, %87
  br i1 %213, label %214, label %218

214:                                              ; preds = %211
  %215 = load ptr, ptr %89, align 8
  %216 = zext i32 %212 to i64
  %217 = getelementptr inbounds %struct.model_buffer, ptr %215, i64 %216
  br label %223

218:                                              ; preds = %211
  %219 = load ptr, ptr %88, align 8
  %220 = sub i32 %212, %87
  %221 = zext i32 %220 to i64
  %222 = getelementptr inbounds %struct.model_buffer, ptr %219, i64 %221
  br label %223

223:                                              ; preds = %218, %214, %203
  %224 = phi ptr [ %222, %218 ], [ %217, %214 ], [ %30, %203 ]
  %225 = load ptr, ptr %224, align 8
  br label %226

226:                                              ; preds = %223, %203
  %227 = phi ptr [ @model_plan, %203 ], [ %225, %223 ]
  %228 = getelementptr inbounds i8, ptr %204, i64 %206
  %229 = getelementptr inbounds %struct.plan_place, ptr %209, i64 0, i32 6
  %230 = load i64, ptr %229, align 8
  %231 = getelementptr inbounds i8, ptr %227, i64 %230
  %232 = getelementptr inbounds %struct.plan_place, ptr %182, i64 %208, i32 7
  %233 = load i64, ptr %232, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %228, ptr align 1 %231, i64 %233, i1 false)
  br label %234

234:                                              ; preds = %226, %175
  %235 = phi i64 [ 3, %226 ], [ %177, %175 ]
  %236 = getelementptr inbounds i32, ptr %94, i64 %235
  %237 = add i32 %93, 1
  %238 = load ptr, ptr %91, align 8
  %239 = load ptr, ptr %90, align 8
  %240 = icmp ult ptr %239, %238
  br i1 %240, label %241, label %352

241:                                              ; preds = %234, %349
  %242 = phi ptr [ %350, %349 ], [ %239, %234 ]
  %243 = load i32, ptr %242, align 8
  %244 = icmp eq i32 %243, %237
  br i1 %244, label %245, label %352

245:                                              ; preds = %241
  %246 = load ptr, ptr %0, align 8
  %247 = getelementptr inbounds %struct.plan_code, ptr %246, i64 0, i32 4
  %248 = load i32, ptr %247, align 8
  %249 = zext i32 %248 to i64
  %250 = getelementptr inbounds i8, ptr @model_plan, i64 %249
  %251 = getelementptr inbounds %struct.plan_golden, ptr %242, i64 0, i32 1
  %252 = load i32, ptr %251, align 4
  %253 = zext i32 %252 to i64
  %254 = getelementptr inbounds %struct.plan_place, ptr %250, i64 %253
  %255 = load i32, ptr %254, align 8
  switch i32 %255, label %256 [
    i32 0, label %271
    i32 1, label %268
  ]

256:                                              ; preds = %245
  %257 = add i32 %255, -2
  %258 = icmp ult i32 %257, %87
  br i1 %258, label %259, label %263

259:                                              ; preds = %256
  %260 = load ptr, ptr %89, align 8
  %261 = zext i32 %257 to i64
  %262 = getelementptr inbounds %struct.model_buffer, ptr %260, i64 %261
  br label %268

263:                                              ; preds = %256
  %264 = load ptr, ptr %88, align 8
  %265 = sub i32 %257, %87
  %266 = zext i32 %265 to i64
  %267 = getelementptr inbounds %struct.model_buffer, ptr %264, i64 %266
  br label %268

268:                                              ; preds = %263, %259, %245
  %269 = phi ptr [ %267, %263 ], [ %262, %259 ], [ %30, %245 ]
  %270 = load ptr, ptr %269, align 8
  br label %271

271:                                              ; preds = %268, %245
  %272 = phi ptr [ @model_plan, %245 ], [ %270, %268 ]
  %273 = getelementptr inbounds %struct.plan_place, ptr %254, i64 0, i32 6
  %274 = load i64, ptr %273, align 8
  %275 = getelementptr inbounds i8, ptr %272, i64 %274
  %276 = getelementptr inbounds %struct.plan_place, ptr %250, i64 %253, i32 7
  %277 = load i64, ptr %276, align 8
  %278 = icmp sgt i64 %277, 0
  br i1 %278, label %279, label %340

279:                                              ; preds = %271
  %280 = and i64 %277, 1
  %281 = icmp eq i64 %277, 1
  br i1 %281, label %320, label %282

282:                                              ; preds = %279
  %283 = and i64 %277, -2
  br label %284

284:                                              ; preds = %284, %282
  %285 = phi i64 [ 0, %282 ], [ %317, %284 ]
  %286 = phi i64 [ 0, %282 ], [ %316, %284 ]
  %287 = phi i64 [ 0, %282 ], [ %318, %284 ]
  %288 = getelementptr inbounds i8, ptr %275, i64 %285
  %289 = load i8, ptr %288, align 1
  %290 = zext i8 %289 to i64
  %291 = add nuw nsw i64 %290, 1
  %292 = mul i64 %285, -7046029254386353131
  %293 = add i64 %292, -7046029254386353131
  %294 = lshr i64 %293, 29
  %295 = xor i64 %294, %293
  %296 = mul i64 %295, -4658895280553007687
  %297 = lshr i64 %296, 32
  %298 = xor i64 %297, %296
  %299 = or i64 %298, 1
  %300 = mul i64 %299, %291
  %301 = add i64 %300, %286
  %302 = or i64 %285, 1
  %303 = getelementptr inbounds i8, ptr %275, i64 %302
  %304 = load i8, ptr %303, align 1
  %305 = zext i8 %304 to i64
  %306 = add nuw nsw i64 %305, 1
  %307 = mul i64 %302, -7046029254386353131
  %308 = add i64 %307, -7046029254386353131
  %309 = lshr i64 %308, 29
  %310 = xor i64 %309, %308
  %311 = mul i64 %310, -4658895280553007687
  %312 = lshr i64 %311, 32
  %313 = xor i64 %312, %311
  %314 = or i64 %313, 1
  %315 = mul i64 %314, %306
  %316 = add i64 %315, %301
  %317 = add nuw nsw i64 %285, 2
  %318 = add i64 %287, 2
  %319 = icmp eq i64 %318, %283
  br i1 %319, label %320, label %284, !llvm.loop !27

320:                                              ; preds = %284, %279
  %321 = phi i64 [ undef, %279 ], [ %316, %284 ]
  %322 = phi i64 [ 0, %279 ], [ %317, %284 ]
  %323 = phi i64 [ 0, %279 ], [ %316, %284 ]
  %324 = icmp eq i64 %280, 0
  br i1 %324, label %340, label %325

325:                                              ; preds = %320
  %326 = getelementptr inbounds i8, ptr %275, i64 %322
  %327 = load i8, ptr %326, align 1
  %328 = zext i8 %327 to i64
  %329 = add nuw nsw i64 %328, 1
  %330 = mul i64 %322, -7046029254386353131
  %331 = add i64 %330, -7046029254386353131
  %332 = lshr i64 %331, 29
  %333 = xor i64 %332, %331
  %334 = mul i64 %333, -4658895280553007687
  %335 = lshr i64 %334, 32
  %336 = xor i64 %335, %334
  %337 = or i64 %336, 1
  %338 = mul i64 %337, %329
  %339 = add i64 %338, %323
  br label %340

340:                                              ; preds = %325, %320, %271
  %341 = phi i64 [ 0, %271 ], [ %321, %320 ], [ %339, %325 ]
  %342 = getelementptr inbounds %struct.plan_golden, ptr %242, i64 0, i32 4
  %343 = load i64, ptr %342, align 8
  %344 = icmp eq i64 %341, %343
  br i1 %344, label %349, label %345

345:                                              ; preds = %340
  %346 = getelementptr inbounds %struct.plan_golden, ptr %242, i64 0, i32 4, i64 1
  %347 = load i64, ptr %346, align 8
  %348 = icmp eq i64 %341, %347
  br i1 %348, label %349, label %354

349:                                              ; preds = %345, %340
  %350 = getelementptr inbounds %struct.plan_golden, ptr %242, i64 1
  store ptr %350, ptr %90, align 8
  %351 = icmp ult ptr %350, %238
  br i1 %351, label %241, label %352, !llvm.loop !28

352:                                              ; preds = %349, %241, %234
  %353 = icmp ult ptr %236, %84
  br i1 %353, label %92, label %354, !llvm.loop !29

354:                                              ; preds = %167, %352, %345, %72
  %355 = phi i32 [ 0, %72 ], [ -13, %345 ], [ 0, %352 ], [ -10, %167 ]
  store ptr %74, ptr %73, align 8
  ret i32 %355
}

; Function Attrs: nofree norecurse nounwind memory(readwrite, argmem: read, inaccessiblemem: none)
define i64 @model_selftest_bytes() local_unnamed_addr #11 {
  %1 = load atomic i32, ptr @chosen acquire, align 4
  %2 = icmp eq i32 %1, 0
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %1, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = select i1 %2, ptr null, ptr %8
  br i1 %2, label %216, label %10

10:                                               ; preds = %0
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds i8, ptr @model_plan, i64 %12
  %14 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %15 = zext i32 %14 to i64
  %16 = getelementptr inbounds i8, ptr @model_plan, i64 %15
  %17 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %18 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %19 = add i32 %18, %17
  %20 = zext i32 %19 to i64
  %21 = shl nuw nsw i64 %20, 4
  %22 = add nuw nsw i64 %21, 63
  %23 = and i64 %22, 137438953408
  %24 = icmp eq i32 %17, 0
  br i1 %24, label %27, label %25

25:                                               ; preds = %10
  %26 = zext i32 %17 to i64
  br label %32

27:                                               ; preds = %101, %10
  %28 = phi i64 [ %23, %10 ], [ %106, %101 ]
  %29 = icmp eq i32 %18, 0
  br i1 %29, label %186, label %30

30:                                               ; preds = %27
  %31 = zext i32 %18 to i64
  br label %109

32:                                               ; preds = %101, %25
  %33 = phi i64 [ 0, %25 ], [ %107, %101 ]
  %34 = phi i64 [ %23, %25 ], [ %106, %101 ]
  %35 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %33
  %36 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 4
  %37 = load i32, ptr %36, align 8
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 2
  %40 = load i32, ptr %39, align 8
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %101, label %42

42:                                               ; preds = %32
  %43 = zext i32 %40 to i64
  %44 = and i64 %43, 7
  %45 = icmp ult i32 %40, 8
  br i1 %45, label %86, label %46

46:                                               ; preds = %42
  %47 = and i64 %43, 4294967288
  br label %48

48:                                               ; preds = %48, %46
  %49 = phi i64 [ 0, %46 ], [ %83, %48 ]
  %50 = phi i64 [ %38, %46 ], [ %82, %48 ]
  %51 = phi i64 [ 0, %46 ], [ %84, %48 ]
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %49
  %53 = load i64, ptr %52, align 8
  %54 = mul nsw i64 %53, %50
  %55 = or i64 %49, 1
  %56 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %55
  %57 = load i64, ptr %56, align 8
  %58 = mul nsw i64 %57, %54
  %59 = or i64 %49, 2
  %60 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %59
  %61 = load i64, ptr %60, align 8
  %62 = mul nsw i64 %61, %58
  %63 = or i64 %49, 3
  %64 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %63
  %65 = load i64, ptr %64, align 8
  %66 = mul nsw i64 %65, %62
  %67 = or i64 %49, 4
  %68 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %67
  %69 = load i64, ptr %68, align 8
  %70 = mul nsw i64 %69, %66
  %71 = or i64 %49, 5
  %72 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %71
  %73 = load i64, ptr %72, align 8
  %74 = mul nsw i64 %73, %70
  %75 = or i64 %49, 6
  %76 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %75
  %77 = load i64, ptr %76, align 8
  %78 = mul nsw i64 %77, %74
  %79 = or i64 %49, 7
  %80 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %79
  %81 = load i64, ptr %80, align 8
  %82 = mul nsw i64 %81, %78
  %83 = add nuw nsw i64 %49, 8
  %84 = add i64 %51, 8
  %85 = icmp eq i64 %84, %47
  br i1 %85, label %86, label %48, !llvm.loop !18

86:                                               ; preds = %48, %42
  %87 = phi i64 [ undef, %42 ], [ %82, %48 ]
  %88 = phi i64 [ 0, %42 ], [ %83, %48 ]
  %89 = phi i64 [ %38, %42 ], [ %82, %48 ]
  %90 = icmp eq i64 %44, 0
  br i1 %90, label %101, label %91

91:                                               ; preds = %86, %91
  %92 = phi i64 [ %98, %91 ], [ %88, %86 ]
  %93 = phi i64 [ %97, %91 ], [ %89, %86 ]
  %94 = phi i64 [ %99, %91 ], [ 0, %86 ]
  %95 = getelementptr inbounds %struct.plan_tensor, ptr %35, i64 0, i32 8, i64 %92
  %96 = load i64, ptr %95, align 8
  %97 = mul nsw i64 %96, %93
  %98 = add nuw nsw i64 %92, 1
  %99 = add i64 %94, 1
  %100 = icmp eq i64 %99, %44
  br i1 %100, label %101, label %91, !llvm.loop !30

101:                                              ; preds = %86, %91, %32
  %102 = phi i64 [ %38, %32 ], [ %87, %86 ], [ %97, %91 ]
  %103 = add nsw i64 %102, 63
  %104 = sdiv i64 %103, 64
  %105 = shl nsw i64 %104, 6
  %106 = add nsw i64 %105, %34
  %107 = add nuw nsw i64 %33, 1
  %108 = icmp eq i64 %107, %26
  br i1 %108, label %27, label %32, !llvm.loop !31

109:                                              ; preds = %178, %30
  %110 = phi i64 [ 0, %30 ], [ %184, %178 ]
  %111 = phi i64 [ %28, %30 ], [ %183, %178 ]
  %112 = getelementptr inbounds %struct.plan_tensor, ptr %16, i64 %110
  %113 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 4
  %114 = load i32, ptr %113, align 8
  %115 = zext i32 %114 to i64
  %116 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 2
  %117 = load i32, ptr %116, align 8
  %118 = icmp eq i32 %117, 0
  br i1 %118, label %178, label %119

119:                                              ; preds = %109
  %120 = zext i32 %117 to i64
  %121 = and i64 %120, 7
  %122 = icmp ult i32 %117, 8
  br i1 %122, label %163, label %123

123:                                              ; preds = %119
  %124 = and i64 %120, 4294967288
  br label %125

125:                                              ; preds = %125, %123
  %126 = phi i64 [ 0, %123 ], [ %160, %125 ]
  %127 = phi i64 [ %115, %123 ], [ %159, %125 ]
  %128 = phi i64 [ 0, %123 ], [ %161, %125 ]
  %129 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %126
  %130 = load i64, ptr %129, align 8
  %131 = mul nsw i64 %130, %127
  %132 = or i64 %126, 1
  %133 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %132
  %134 = load i64, ptr %133, align 8
  %135 = mul nsw i64 %134, %131
  %136 = or i64 %126, 2
  %137 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %136
  %138 = load i64, ptr %137, align 8
  %139 = mul nsw i64 %138, %135
  %140 = or i64 %126, 3
  %141 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %140
  %142 = load i64, ptr %141, align 8
  %143 = mul nsw i64 %142, %139
  %144 = or i64 %126, 4
  %145 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %144
  %146 = load i64, ptr %145, align 8
  %147 = mul nsw i64 %146, %143
  %148 = or i64 %126, 5
  %149 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %148
  %150 = load i64, ptr %149, align 8
  %151 = mul nsw i64 %150, %147
  %152 = or i64 %126, 6
  %153 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %152
  %154 = load i64, ptr %153, align 8
  %155 = mul nsw i64 %154, %151
  %156 = or i64 %126, 7
  %157 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %156
  %158 = load i64, ptr %157, align 8
  %159 = mul nsw i64 %158, %155
  %160 = add nuw nsw i64 %126, 8
  %161 = add i64 %128, 8
  %162 = icmp eq i64 %161, %124
  br i1 %162, label %163, label %125, !llvm.loop !18

163:                                              ; preds = %125, %119
  %164 = phi i64 [ undef, %119 ], [ %159, %125 ]
  %165 = phi i64 [ 0, %119 ], [ %160, %125 ]
  %166 = phi i64 [ %115, %119 ], [ %159, %125 ]
  %167 = icmp eq i64 %121, 0
  br i1 %167, label %178, label %168

168:                                              ; preds = %163, %168
  %169 = phi i64 [ %175, %168 ], [ %165, %163 ]
  %170 = phi i64 [ %174, %168 ], [ %166, %163 ]
  %171 = phi i64 [ %176, %168 ], [ 0, %163 ]
  %172 = getelementptr inbounds %struct.plan_tensor, ptr %112, i64 0, i32 8, i64 %169
  %173 = load i64, ptr %172, align 8
  %174 = mul nsw i64 %173, %170
  %175 = add nuw nsw i64 %169, 1
  %176 = add i64 %171, 1
  %177 = icmp eq i64 %176, %121
  br i1 %177, label %178, label %168, !llvm.loop !32

178:                                              ; preds = %163, %168, %109
  %179 = phi i64 [ %115, %109 ], [ %164, %163 ], [ %174, %168 ]
  %180 = add nsw i64 %179, 63
  %181 = sdiv i64 %180, 64
  %182 = shl nsw i64 %181, 6
  %183 = add nsw i64 %182, %111
  %184 = add nuw nsw i64 %110, 1
  %185 = icmp eq i64 %184, %31
  br i1 %185, label %186, label %109, !llvm.loop !33

186:                                              ; preds = %178, %27
  %187 = phi i64 [ %28, %27 ], [ %183, %178 ]
  %188 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 6
  %189 = load i32, ptr %188, align 8
  %190 = zext i32 %189 to i64
  %191 = mul nuw nsw i64 %190, 48
  %192 = add nuw nsw i64 %191, 63
  %193 = and i64 %192, 549755813824
  %194 = shl nuw nsw i64 %190, 4
  %195 = add nuw nsw i64 %194, 63
  %196 = and i64 %195, 137438953408
  %197 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 8
  %198 = load i64, ptr %197, align 8
  %199 = add nsw i64 %198, 63
  %200 = sdiv i64 %199, 64
  %201 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 9
  %202 = load i64, ptr %201, align 8
  %203 = add nsw i64 %202, 63
  %204 = sdiv i64 %203, 64
  %205 = getelementptr inbounds %struct.plan_code, ptr %9, i64 0, i32 10
  %206 = load i64, ptr %205, align 8
  %207 = add nsw i64 %206, 63
  %208 = sdiv i64 %207, 64
  %209 = add nsw i64 %204, %200
  %210 = add nsw i64 %209, %208
  %211 = shl i64 %210, 6
  %212 = add i64 %187, 128
  %213 = add i64 %212, %196
  %214 = add i64 %213, %193
  %215 = add i64 %214, %211
  br label %216

216:                                              ; preds = %0, %186
  %217 = phi i64 [ %215, %186 ], [ -8, %0 ]
  ret i64 %217
}

; Function Attrs: nounwind
define i32 @model_selftest(ptr %0, i64 %1, ptr noundef writeonly %2) local_unnamed_addr #0 {
  %4 = alloca %struct.run, align 8
  %5 = load atomic i32, ptr @chosen acquire, align 4
  %6 = icmp eq i32 %5, 0
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = add i32 %5, -1
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds %struct.plan_code, ptr %9, i64 %11
  %13 = select i1 %6, ptr null, ptr %12
  br i1 %6, label %483, label %14

14:                                               ; preds = %3
  %15 = icmp eq ptr %0, null
  br i1 %15, label %483, label %16

16:                                               ; preds = %14
  %17 = ptrtoint ptr %0 to i64
  %18 = and i64 %17, 63
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %20, label %483

20:                                               ; preds = %16
  %21 = tail call i64 @model_selftest_bytes() #14
  %22 = icmp ugt i64 %21, %1
  br i1 %22, label %483, label %23

23:                                               ; preds = %20
  %24 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 12
  %25 = load i32, ptr %24, align 4
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %483, label %27

27:                                               ; preds = %23
  %28 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %29 = zext i32 %28 to i64
  %30 = getelementptr inbounds i8, ptr @model_plan, i64 %29
  %31 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds i8, ptr @model_plan, i64 %32
  %34 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %36 = add i32 %35, %34
  %37 = zext i32 %36 to i64
  %38 = shl nuw nsw i64 %37, 4
  %39 = add nuw nsw i64 %38, 63
  %40 = and i64 %39, 137438953408
  %41 = icmp eq i32 %34, 0
  br i1 %41, label %44, label %42

42:                                               ; preds = %27
  %43 = zext i32 %34 to i64
  br label %49

44:                                               ; preds = %118, %27
  %45 = phi i64 [ %40, %27 ], [ %123, %118 ]
  %46 = icmp eq i32 %35, 0
  br i1 %46, label %203, label %47

47:                                               ; preds = %44
  %48 = zext i32 %35 to i64
  br label %126

49:                                               ; preds = %118, %42
  %50 = phi i64 [ 0, %42 ], [ %124, %118 ]
  %51 = phi i64 [ %40, %42 ], [ %123, %118 ]
  %52 = getelementptr inbounds %struct.plan_tensor, ptr %30, i64 %50
  %53 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 4
  %54 = load i32, ptr %53, align 8
  %55 = zext i32 %54 to i64
  %56 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 2
  %57 = load i32, ptr %56, align 8
  %58 = icmp eq i32 %57, 0
  br i1 %58, label %118, label %59

59:                                               ; preds = %49
  %60 = zext i32 %57 to i64
  %61 = and i64 %60, 7
  %62 = icmp ult i32 %57, 8
  br i1 %62, label %103, label %63

63:                                               ; preds = %59
  %64 = and i64 %60, 4294967288
  br label %65

65:                                               ; preds = %65, %63
  %66 = phi i64 [ 0, %63 ], [ %100, %65 ]
  %67 = phi i64 [ %55, %63 ], [ %99, %65 ]
  %68 = phi i64 [ 0, %63 ], [ %101, %65 ]
  %69 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %66
  %70 = load i64, ptr %69, align 8
  %71 = mul nsw i64 %70, %67
  %72 = or i64 %66, 1
  %73 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %72
  %74 = load i64, ptr %73, align 8
  %75 = mul nsw i64 %74, %71
  %76 = or i64 %66, 2
  %77 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %76
  %78 = load i64, ptr %77, align 8
  %79 = mul nsw i64 %78, %75
  %80 = or i64 %66, 3
  %81 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %80
  %82 = load i64, ptr %81, align 8
  %83 = mul nsw i64 %82, %79
  %84 = or i64 %66, 4
  %85 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %84
  %86 = load i64, ptr %85, align 8
  %87 = mul nsw i64 %86, %83
  %88 = or i64 %66, 5
  %89 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %88
  %90 = load i64, ptr %89, align 8
  %91 = mul nsw i64 %90, %87
  %92 = or i64 %66, 6
  %93 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %92
  %94 = load i64, ptr %93, align 8
  %95 = mul nsw i64 %94, %91
  %96 = or i64 %66, 7
  %97 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %96
  %98 = load i64, ptr %97, align 8
  %99 = mul nsw i64 %98, %95
  %100 = add nuw nsw i64 %66, 8
  %101 = add i64 %68, 8
  %102 = icmp eq i64 %101, %64
  br i1 %102, label %103, label %65, !llvm.loop !18

103:                                              ; preds = %65, %59
  %104 = phi i64 [ undef, %59 ], [ %99, %65 ]
  %105 = phi i64 [ 0, %59 ], [ %100, %65 ]
  %106 = phi i64 [ %55, %59 ], [ %99, %65 ]
  %107 = icmp eq i64 %61, 0
  br i1 %107, label %118, label %108

108:                                              ; preds = %103, %108
  %109 = phi i64 [ %115, %108 ], [ %105, %103 ]
  %110 = phi i64 [ %114, %108 ], [ %106, %103 ]
  %111 = phi i64 [ %116, %108 ], [ 0, %103 ]
  %112 = getelementptr inbounds %struct.plan_tensor, ptr %52, i64 0, i32 8, i64 %109
  %113 = load i64, ptr %112, align 8
  %114 = mul nsw i64 %113, %110
  %115 = add nuw nsw i64 %109, 1
  %116 = add i64 %111, 1
  %117 = icmp eq i64 %116, %61
  br i1 %117, label %118, label %108, !llvm.loop !34

118:                                              ; preds = %103, %108, %49
  %119 = phi i64 [ %55, %49 ], [ %104, %103 ], [ %114, %108 ]
  %120 = add nsw i64 %119, 63
  %121 = sdiv i64 %120, 64
  %122 = shl nsw i64 %121, 6
  %123 = add nsw i64 %122, %51
  %124 = add nuw nsw i64 %50, 1
  %125 = icmp eq i64 %124, %43
  br i1 %125, label %44, label %49, !llvm.loop !31

126:                                              ; preds = %195, %47
  %127 = phi i64 [ 0, %47 ], [ %201, %195 ]
  %128 = phi i64 [ %45, %47 ], [ %200, %195 ]
  %129 = getelementptr inbounds %struct.plan_tensor, ptr %33, i64 %127
  %130 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 4
  %131 = load i32, ptr %130, align 8
  %132 = zext i32 %131 to i64
  %133 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 2
  %134 = load i32, ptr %133, align 8
  %135 = icmp eq i32 %134, 0
  br i1 %135, label %195, label %136

136:                                              ; preds = %126
  %137 = zext i32 %134 to i64
  %138 = and i64 %137, 7
  %139 = icmp ult i32 %134, 8
  br i1 %139, label %180, label %140

140:                                              ; preds = %136
  %141 = and i64 %137, 4294967288
  br label %142

142:                                              ; preds = %142, %140
  %143 = phi i64 [ 0, %140 ], [ %177, %142 ]
  %144 = phi i64 [ %132, %140 ], [ %176, %142 ]
  %145 = phi i64 [ 0, %140 ], [ %178, %142 ]
  %146 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %143
  %147 = load i64, ptr %146, align 8
  %148 = mul nsw i64 %147, %144
  %149 = or i64 %143, 1
  %150 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %149
  %151 = load i64, ptr %150, align 8
  %152 = mul nsw i64 %151, %148
  %153 = or i64 %143, 2
  %154 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %153
  %155 = load i64, ptr %154, align 8
  %156 = mul nsw i64 %155, %152
  %157 = or i64 %143, 3
  %158 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %157
  %159 = load i64, ptr %158, align 8
  %160 = mul nsw i64 %159, %156
  %161 = or i64 %143, 4
  %162 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %161
  %163 = load i64, ptr %162, align 8
  %164 = mul nsw i64 %163, %160
  %165 = or i64 %143, 5
  %166 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %165
  %167 = load i64, ptr %166, align 8
  %168 = mul nsw i64 %167, %164
  %169 = or i64 %143, 6
  %170 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %169
  %171 = load i64, ptr %170, align 8
  %172 = mul nsw i64 %171, %168
  %173 = or i64 %143, 7
  %174 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %173
  %175 = load i64, ptr %174, align 8
  %176 = mul nsw i64 %175, %172
  %177 = add nuw nsw i64 %143, 8
  %178 = add i64 %145, 8
  %179 = icmp eq i64 %178, %141
  br i1 %179, label %180, label %142, !llvm.loop !18

180:                                              ; preds = %142, %136
  %181 = phi i64 [ undef, %136 ], [ %176, %142 ]
  %182 = phi i64 [ 0, %136 ], [ %177, %142 ]
  %183 = phi i64 [ %132, %136 ], [ %176, %142 ]
  %184 = icmp eq i64 %138, 0
  br i1 %184, label %195, label %185

185:                                              ; preds = %180, %185
  %186 = phi i64 [ %192, %185 ], [ %182, %180 ]
  %187 = phi i64 [ %191, %185 ], [ %183, %180 ]
  %188 = phi i64 [ %193, %185 ], [ 0, %180 ]
  %189 = getelementptr inbounds %struct.plan_tensor, ptr %129, i64 0, i32 8, i64 %186
  %190 = load i64, ptr %189, align 8
  %191 = mul nsw i64 %190, %187
  %192 = add nuw nsw i64 %186, 1
  %193 = add i64 %188, 1
  %194 = icmp eq i64 %193, %138
  br i1 %194, label %195, label %185, !llvm.loop !35

195:                                              ; preds = %180, %185, %126
  %196 = phi i64 [ %132, %126 ], [ %181, %180 ], [ %191, %185 ]
  %197 = add nsw i64 %196, 63
  %198 = sdiv i64 %197, 64
  %199 = shl nsw i64 %198, 6
  %200 = add nsw i64 %199, %128
  %201 = add nuw nsw i64 %127, 1
  %202 = icmp eq i64 %201, %48
  br i1 %202, label %203, label %126, !llvm.loop !33

203:                                              ; preds = %195, %44
  %204 = phi i64 [ %45, %44 ], [ %200, %195 ]
  %205 = getelementptr inbounds i8, ptr %0, i64 %204
  %206 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 11
  %207 = load i32, ptr %206, align 8
  %208 = zext i32 %207 to i64
  %209 = getelementptr inbounds i8, ptr @model_plan, i64 %208
  call void @llvm.lifetime.start.p0(i64 80, ptr nonnull %4) #15
  store ptr %13, ptr %4, align 8
  %210 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 1
  %211 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 2
  %212 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 3
  store ptr null, ptr %212, align 8
  %213 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 4
  store ptr null, ptr %213, align 8
  %214 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 5
  store ptr null, ptr %214, align 8
  %215 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 6
  store ptr null, ptr %215, align 8
  %216 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 7
  store ptr null, ptr %216, align 8
  %217 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 8
  store ptr %209, ptr %217, align 8
  %218 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 9
  %219 = zext i32 %25 to i64
  %220 = getelementptr inbounds %struct.plan_golden, ptr %209, i64 %219
  store ptr %220, ptr %218, align 8
  %221 = icmp eq i32 %36, 0
  br i1 %221, label %222, label %224

222:                                              ; preds = %203
  %223 = zext i32 %34 to i64
  br label %459

224:                                              ; preds = %203
  %225 = getelementptr inbounds i8, ptr %0, i64 %40
  %226 = zext i32 %34 to i64
  br label %227

227:                                              ; preds = %451, %224
  %228 = phi i64 [ 0, %224 ], [ %457, %451 ]
  %229 = phi ptr [ %225, %224 ], [ %456, %451 ]
  %230 = icmp ult i64 %228, %226
  %231 = getelementptr inbounds %struct.plan_tensor, ptr %30, i64 %228
  %232 = trunc i64 %228 to i32
  %233 = sub i32 %232, %34
  %234 = zext i32 %233 to i64
  %235 = getelementptr inbounds %struct.plan_tensor, ptr %33, i64 %234
  %236 = select i1 %230, ptr %231, ptr %235
  %237 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 4
  %238 = load i32, ptr %237, align 8
  %239 = zext i32 %238 to i64
  %240 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 2
  %241 = load i32, ptr %240, align 8
  %242 = icmp eq i32 %241, 0
  br i1 %242, label %306, label %243

243:                                              ; preds = %227
  %244 = zext i32 %241 to i64
  %245 = and i64 %244, 7
  %246 = icmp ult i32 %241, 8
  br i1 %246, label %287, label %247

247:                                              ; preds = %243
  %248 = and i64 %244, 4294967288
  br label %249

249:                                              ; preds = %249, %247
  %250 = phi i64 [ 0, %247 ], [ %284, %249 ]
  %251 = phi i64 [ %239, %247 ], [ %283, %249 ]
  %252 = phi i64 [ 0, %247 ], [ %285, %249 ]
  %253 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %250
  %254 = load i64, ptr %253, align 8
  %255 = mul nsw i64 %254, %251
  %256 = or i64 %250, 1
  %257 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %256
  %258 = load i64, ptr %257, align 8
  %259 = mul nsw i64 %258, %255
  %260 = or i64 %250, 2
  %261 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %260
  %262 = load i64, ptr %261, align 8
  %263 = mul nsw i64 %262, %259
  %264 = or i64 %250, 3
  %265 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %264
  %266 = load i64, ptr %265, align 8
  %267 = mul nsw i64 %266, %263
  %268 = or i64 %250, 4
  %269 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %268
  %270 = load i64, ptr %269, align 8
  %271 = mul nsw i64 %270, %267
  %272 = or i64 %250, 5
  %273 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %272
  %274 = load i64, ptr %273, align 8
  %275 = mul nsw i64 %274, %271
  %276 = or i64 %250, 6
  %277 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %276
  %278 = load i64, ptr %277, align 8
  %279 = mul nsw i64 %278, %275
  %280 = or i64 %250, 7
  %281 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %280
  %282 = load i64, ptr %281, align 8
  %283 = mul nsw i64 %282, %279
  %284 = add nuw nsw i64 %250, 8
  %285 = add i64 %252, 8
  %286 = icmp eq i64 %285, %248
  br i1 %286, label %287, label %249, !llvm.loop !18

287:                                              ; preds = %249, %243
  %288 = phi i64 [ undef, %243 ], [ %283, %249 ]
  %289 = phi i64 [ 0, %243 ], [ %284, %249 ]
  %290 = phi i64 [ %239, %243 ], [ %283, %249 ]
  %291 = icmp eq i64 %245, 0
  br i1 %291, label %302, label %292

292:                                              ; preds = %287, %292
  %293 = phi i64 [ %299, %292 ], [ %289, %287 ]
  %294 = phi i64 [ %298, %292 ], [ %290, %287 ]
  %295 = phi i64 [ %300, %292 ], [ 0, %287 ]
  %296 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %293
  %297 = load i64, ptr %296, align 8
  %298 = mul nsw i64 %297, %294
  %299 = add nuw nsw i64 %293, 1
  %300 = add i64 %295, 1
  %301 = icmp eq i64 %300, %245
  br i1 %301, label %302, label %292, !llvm.loop !36

302:                                              ; preds = %292, %287
  %303 = phi i64 [ %288, %287 ], [ %298, %292 ]
  %304 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %228
  store ptr %229, ptr %304, align 8
  %305 = getelementptr inbounds i8, ptr %304, i64 8
  store i64 %303, ptr %305, align 8
  br i1 %230, label %312, label %451

306:                                              ; preds = %227
  %307 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %228
  store ptr %229, ptr %307, align 8
  %308 = getelementptr inbounds i8, ptr %307, i64 8
  store i64 %239, ptr %308, align 8
  br i1 %230, label %309, label %451

309:                                              ; preds = %306
  %310 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 1
  %311 = load i32, ptr %310, align 4
  br label %372

312:                                              ; preds = %302
  %313 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 1
  %314 = load i32, ptr %313, align 4
  %315 = and i64 %244, 7
  %316 = icmp ult i32 %241, 8
  br i1 %316, label %357, label %317

317:                                              ; preds = %312
  %318 = and i64 %244, 4294967288
  br label %319

319:                                              ; preds = %319, %317
  %320 = phi i64 [ 0, %317 ], [ %354, %319 ]
  %321 = phi i64 [ %239, %317 ], [ %353, %319 ]
  %322 = phi i64 [ 0, %317 ], [ %355, %319 ]
  %323 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %320
  %324 = load i64, ptr %323, align 8
  %325 = mul nsw i64 %324, %321
  %326 = or i64 %320, 1
  %327 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %326
  %328 = load i64, ptr %327, align 8
  %329 = mul nsw i64 %328, %325
  %330 = or i64 %320, 2
  %331 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %330
  %332 = load i64, ptr %331, align 8
  %333 = mul nsw i64 %332, %329
  %334 = or i64 %320, 3
  %335 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %334
  %336 = load i64, ptr %335, align 8
  %337 = mul nsw i64 %336, %333
  %338 = or i64 %320, 4
  %339 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %338
  %340 = load i64, ptr %339, align 8
  %341 = mul nsw i64 %340, %337
  %342 = or i64 %320, 5
  %343 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %342
  %344 = load i64, ptr %343, align 8
  %345 = mul nsw i64 %344, %341
  %346 = or i64 %320, 6
  %347 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %346
  %348 = load i64, ptr %347, align 8
  %349 = mul nsw i64 %348, %345
  %350 = or i64 %320, 7
  %351 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %350
  %352 = load i64, ptr %351, align 8
  %353 = mul nsw i64 %352, %349
  %354 = add nuw nsw i64 %320, 8
  %355 = add i64 %322, 8
  %356 = icmp eq i64 %355, %318
  br i1 %356, label %357, label %319, !llvm.loop !18

357:                                              ; preds = %319, %312
  %358 = phi i64 [ undef, %312 ], [ %353, %319 ]
  %359 = phi i64 [ 0, %312 ], [ %354, %319 ]
  %360 = phi i64 [ %239, %312 ], [ %353, %319 ]
  %361 = icmp eq i64 %315, 0
  br i1 %361, label %372, label %362

362:                                              ; preds = %357, %362
  %363 = phi i64 [ %369, %362 ], [ %359, %357 ]
  %364 = phi i64 [ %368, %362 ], [ %360, %357 ]
  %365 = phi i64 [ %370, %362 ], [ 0, %357 ]
  %366 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 8, i64 %363
  %367 = load i64, ptr %366, align 8
  %368 = mul nsw i64 %367, %364
  %369 = add nuw nsw i64 %363, 1
  %370 = add i64 %365, 1
  %371 = icmp eq i64 %370, %315
  br i1 %371, label %372, label %362, !llvm.loop !37

372:                                              ; preds = %357, %362, %309
  %373 = phi i32 [ %311, %309 ], [ %314, %362 ], [ %314, %357 ]
  %374 = phi i64 [ %239, %309 ], [ %303, %362 ], [ %303, %357 ]
  %375 = phi i64 [ %239, %309 ], [ %358, %357 ], [ %368, %362 ]
  %376 = zext i32 %373 to i64
  %377 = getelementptr inbounds i8, ptr @model_plan, i64 %376
  %378 = sdiv i64 %375, %239
  %379 = getelementptr inbounds %struct.plan_tensor, ptr %236, i64 0, i32 6
  %380 = load double, ptr %379, align 8
  %381 = fcmp une double %380, 0.000000e+00
  %382 = select i1 %381, double %380, double 1.562500e-02
  %383 = icmp sgt i64 %378, 0
  br i1 %383, label %384, label %451

384:                                              ; preds = %372
  %385 = shl nuw i64 %228, 32
  %386 = load i8, ptr %377, align 1
  %387 = icmp eq i8 %386, 0
  br label %388

388:                                              ; preds = %448, %384
  %389 = phi i64 [ 0, %384 ], [ %449, %448 ]
  %390 = add i64 %389, %385
  %391 = mul i64 %390, -7046029254386353131
  %392 = add i64 %391, -7046029254386353131
  %393 = lshr i64 %392, 29
  %394 = xor i64 %393, %392
  %395 = mul i64 %394, -4658895280553007687
  %396 = lshr i64 %395, 56
  br i1 %387, label %408, label %397

397:                                              ; preds = %388, %403
  %398 = phi i8 [ %406, %403 ], [ %386, %388 ]
  %399 = phi ptr [ %405, %403 ], [ @.str.16, %388 ]
  %400 = phi ptr [ %404, %403 ], [ %377, %388 ]
  %401 = load i8, ptr %399, align 1
  %402 = icmp eq i8 %398, %401
  br i1 %402, label %403, label %408

403:                                              ; preds = %397
  %404 = getelementptr inbounds i8, ptr %400, i64 1
  %405 = getelementptr inbounds i8, ptr %399, i64 1
  %406 = load i8, ptr %404, align 1
  %407 = icmp eq i8 %406, 0
  br i1 %407, label %408, label %397, !llvm.loop !2

408:                                              ; preds = %403, %397, %388
  %409 = phi ptr [ @.str.16, %388 ], [ %399, %397 ], [ %405, %403 ]
  %410 = phi i8 [ 0, %388 ], [ %398, %397 ], [ 0, %403 ]
  %411 = load i8, ptr %409, align 1
  %412 = icmp eq i8 %410, %411
  br i1 %412, label %413, label %419

413:                                              ; preds = %408
  %414 = uitofp i64 %396 to double
  %415 = fadd double %414, -1.280000e+02
  %416 = fmul double %382, %415
  %417 = fptrunc double %416 to float
  %418 = getelementptr inbounds float, ptr %229, i64 %389
  store float %417, ptr %418, align 4
  br label %448

419:                                              ; preds = %408
  switch i32 %238, label %448 [
    i32 8, label %420
    i32 4, label %423
    i32 1, label %427
  ]

420:                                              ; preds = %419
  %421 = and i64 %396, 1
  %422 = getelementptr inbounds i64, ptr %229, i64 %389
  store i64 %421, ptr %422, align 8
  br label %448

423:                                              ; preds = %419
  %424 = trunc i64 %396 to i32
  %425 = and i32 %424, 1
  %426 = getelementptr inbounds i32, ptr %229, i64 %389
  store i32 %425, ptr %426, align 4
  br label %448

427:                                              ; preds = %419
  br i1 %387, label %439, label %428

428:                                              ; preds = %427, %434
  %429 = phi i8 [ %437, %434 ], [ %386, %427 ]
  %430 = phi ptr [ %436, %434 ], [ @.str.17, %427 ]
  %431 = phi ptr [ %435, %434 ], [ %377, %427 ]
  %432 = load i8, ptr %430, align 1
  %433 = icmp eq i8 %429, %432
  br i1 %433, label %434, label %439

434:                                              ; preds = %428
  %435 = getelementptr inbounds i8, ptr %431, i64 1
  %436 = getelementptr inbounds i8, ptr %430, i64 1
  %437 = load i8, ptr %435, align 1
  %438 = icmp eq i8 %437, 0
  br i1 %438, label %439, label %428, !llvm.loop !2

439:                                              ; preds = %434, %428, %427
  %440 = phi ptr [ @.str.17, %427 ], [ %430, %428 ], [ %436, %434 ]
  %441 = phi i8 [ 0, %427 ], [ %429, %428 ], [ 0, %434 ]
  %442 = load i8, ptr %440, align 1
  %443 = icmp eq i8 %441, %442
  %444 = and i64 %396, 1
  %445 = select i1 %443, i64 %444, i64 %396
  %446 = trunc i64 %445 to i8
  %447 = getelementptr inbounds i8, ptr %229, i64 %389
  store i8 %446, ptr %447, align 1
  br label %448

448:                                              ; preds = %439, %423, %420, %419, %413
  %449 = add nuw nsw i64 %389, 1
  %450 = icmp eq i64 %449, %378
  br i1 %450, label %451, label %388, !llvm.loop !38

451:                                              ; preds = %448, %372, %306, %302
  %452 = phi i64 [ %239, %306 ], [ %303, %302 ], [ %374, %372 ], [ %374, %448 ]
  %453 = add nsw i64 %452, 63
  %454 = sdiv i64 %453, 64
  %455 = shl nsw i64 %454, 6
  %456 = getelementptr inbounds i8, ptr %229, i64 %455
  %457 = add nuw nsw i64 %228, 1
  %458 = icmp eq i64 %457, %37
  br i1 %458, label %459, label %227, !llvm.loop !39

459:                                              ; preds = %451, %222
  %460 = phi i64 [ %223, %222 ], [ %226, %451 ]
  store ptr %0, ptr %210, align 8
  %461 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %460
  store ptr %461, ptr %211, align 8
  %462 = call fastcc i32 @run_model(ptr noundef nonnull %4, ptr noundef nonnull %205, ptr noundef null) #14
  %463 = icmp eq ptr %2, null
  br i1 %463, label %482, label %464

464:                                              ; preds = %459
  %465 = load i32, ptr %24, align 4
  %466 = load ptr, ptr %217, align 8
  %467 = ptrtoint ptr %466 to i64
  %468 = ptrtoint ptr %209 to i64
  %469 = sub i64 %467, %468
  %470 = lshr exact i64 %469, 5
  %471 = trunc i64 %470 to i32
  %472 = icmp eq i32 %462, -13
  br i1 %472, label %473, label %478

473:                                              ; preds = %464
  %474 = getelementptr inbounds %struct.plan_golden, ptr %466, i64 0, i32 2
  %475 = load i32, ptr %474, align 8
  %476 = zext i32 %475 to i64
  %477 = getelementptr inbounds i8, ptr @model_plan, i64 %476
  br label %478

478:                                              ; preds = %464, %473
  %479 = phi ptr [ %477, %473 ], [ null, %464 ]
  store i32 %465, ptr %2, align 8
  %480 = getelementptr inbounds i8, ptr %2, i64 4
  store i32 %471, ptr %480, align 4
  %481 = getelementptr inbounds i8, ptr %2, i64 8
  store ptr %479, ptr %481, align 8
  br label %482

482:                                              ; preds = %478, %459
  call void @llvm.lifetime.end.p0(i64 80, ptr nonnull %4) #15
  br label %483

483:                                              ; preds = %23, %20, %16, %14, %3, %482
  %484 = phi i32 [ %462, %482 ], [ -8, %3 ], [ -1, %14 ], [ -3, %16 ], [ -4, %20 ], [ -14, %23 ]
  ret i32 %484
}

declare extern_weak i32 @pthread_join(i64 noundef, ptr noundef) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #12

; Function Attrs: nounwind
define internal void @run_task(ptr noundef %0, i32 noundef %1) #0 {
  %3 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 3
  %7 = load ptr, ptr %6, align 8
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds %struct.context, ptr %7, i64 %8
  %10 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 4
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %8
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  store ptr %15, ptr %9, align 8
  %16 = load ptr, ptr %0, align 8
  %17 = getelementptr inbounds %struct.context, ptr %16, i64 0, i32 4
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds i8, ptr %15, i64 %18
  %20 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 1
  store ptr %19, ptr %20, align 8
  %21 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 2
  store ptr null, ptr %21, align 8
  store ptr %9, ptr %3, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 1
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 3
  %25 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 2
  %26 = load ptr, ptr %25, align 8
  %27 = tail call i32 %23(i32 noundef %1, ptr noundef nonnull %24, ptr noundef %26) #17
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %31, label %29

29:                                               ; preds = %2
  %30 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %30 monotonic, align 8
  br label %31

31:                                               ; preds = %29, %2
  store ptr %4, ptr %3, align 8
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare ptr @llvm.load.relative.i64(ptr, i64) #13

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { nofree norecurse nosync nounwind memory(argmem: write) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #9 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, argmem: read, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #10 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: read) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #11 = { nofree norecurse nounwind memory(readwrite, argmem: read, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #12 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #13 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #14 = { nobuiltin "no-builtins" }
attributes #15 = { nounwind }
attributes #16 = { nounwind memory(none) }
attributes #17 = { nobuiltin nounwind "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = !{i64 80563}
!5 = !{i64 80987}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = !{i64 84279}
!9 = !{i64 83003}
!10 = distinct !{!10, !3}
!11 = !{i64 83164}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
!15 = distinct !{!15, !3}
!16 = distinct !{!16, !3}
!17 = distinct !{!17, !3}
!18 = distinct !{!18, !3}
!19 = distinct !{!19, !20}
!20 = !{!"llvm.loop.unroll.disable"}
!21 = distinct !{!21, !20}
!22 = distinct !{!22, !3}
!23 = distinct !{!23, !20}
!24 = distinct !{!24, !20}
!25 = distinct !{!25, !3}
!26 = distinct !{!26, !3}
!27 = distinct !{!27, !3}
!28 = distinct !{!28, !3}
!29 = distinct !{!29, !3}
!30 = distinct !{!30, !20}
!31 = distinct !{!31, !3}
!32 = distinct !{!32, !20}
!33 = distinct !{!33, !3}
!34 = distinct !{!34, !20}
!35 = distinct !{!35, !20}
!36 = distinct !{!36, !20}
!37 = distinct !{!37, !20}
!38 = distinct !{!38, !3}
!39 = distinct !{!39, !3}
